import type { ProblemCode } from "../problems.ts";
import { CallFailed } from "./api.ts";

const WORDS: Partial<Record<ProblemCode, string>> = {
  unauthorized: "This key is not known here. Check that it was copied whole; scripts/key prints keys.",
  "wrong-scope": "This key may not do that. Use a key with scope admin to change things, or read to look.",
  "not-yours": "This key may not touch that name. Use a key whose list has it.",
  "store-unavailable":
    "The store cannot be reached, so nothing is granted meanwhile. Pods go on by their own policy; check the database.",
};

/** What went wrong and what to do, in words for the person at the screen. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof CallFailed)) return "Something went wrong in this page. Reload it.";
  const { problem } = error;
  if (!problem) return "The coordinator does not answer. Check the network; this page keeps trying.";
  const known = WORDS[problem.code];
  if (known) return known;
  const trace = problem.code === "internal" ? ` Its log has the request ${problem.trace_id}.` : "";
  return `The coordinator refused: ${problem.detail}.${trace}`;
}
