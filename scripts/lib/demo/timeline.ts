import type { Grant } from "./holds.ts";

/** How the coordinator's clock lies against the machine's: local = theirs + offset, known to within `slackMs`. */
export interface Offset {
  offset: number;
  slackMs: number;
}

/** The Worker learns Redis's clock anew every minute; its offset may then step by a little. */
const STEP_MS = 10;

/** Finds the offset at which every grant lies between its call and its answer; undefined when there was none. */
export function offsetOf(grants: Grant[]): Offset | undefined {
  const sure = grants.filter(({ first }) => first);
  if (sure.length === 0) return undefined;
  const least = sure.reduce(
    (max, one) => Math.max(max, one.sentAt - one.grantedAt),
    Number.NEGATIVE_INFINITY,
  );
  const most = sure.reduce(
    (min, one) => Math.min(min, one.heardAt - one.grantedAt),
    Number.POSITIVE_INFINITY,
  );
  return { offset: (least + most) / 2, slackMs: Math.abs(most - least) / 2 + STEP_MS };
}
