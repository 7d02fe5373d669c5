import type * as z from "zod/mini";
import type { FieldError } from "../problems.ts";
import { oddName } from "./odd-names.ts";
import { Problem } from "./problem.ts";

/** The largest body of any call, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** Checks a value against its schema. Throws `invalid-request` that names every field refused. */
export function check<S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap(fieldErrors).slice(0, 50);
  const first = errors[0];
  throw new Problem("invalid-request", first ? `${first.path}: ${first.message}` : "invalid", { errors });
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, clip(key)].join("."),
      message: "is not a known field",
    }));
  }
  // Of a name in a record the outer message says only that it is wrong, the inner one why.
  const { message } = (issue.code === "invalid_key" && issue.issues[0]) || issue;
  return [{ path: path.map(clip).join(".") || "body", message }];
}

const clip = (key: string) => (key.length > 64 ? `${key.slice(0, 64)}…` : key);

/** Reads a JSON body. Throws `too-large` without reading past the limit, `invalid-request` for no JSON or half of one. */
export async function readJson(request: Request): Promise<{ text: string; value: unknown }> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw Problem.field("content-type", "must be application/json");
  }
  const text = await readText(request);
  if (text.trim() === "") throw Problem.field("body", "must be a JSON object, but is empty");
  const value = parse(text);
  const odd = oddName(text);
  if (odd) throw Problem.field(odd.path, odd.message);
  return { text, value };
}

/** Refuses what is sent to a call that takes nothing, as `readJson` does; an empty object is nothing too. */
export async function refuseBody(request: Request): Promise<void> {
  const text = (await readText(request)).trim();
  if (text !== "" && !/^{\s*}$/.test(text))
    throw Problem.field("body", "must be empty, since this call takes none");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw Problem.field("body", "is not valid JSON");
  }
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (!request.body) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text = "";
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      text += decoder.decode(part.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    reader.cancel().catch(() => undefined);
    if (error instanceof Problem) throw error;
    throw Problem.field("body", error instanceof TypeError ? "is not valid UTF-8" : "was cut off");
  }
}

const tooLarge = () => new Problem("too-large", `the body is larger than ${MAX_BODY_BYTES} bytes`);
