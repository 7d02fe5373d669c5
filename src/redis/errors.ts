/** The store did not answer, answered late, or answered with what is no answer of ours. On the wire: 503. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
  readonly kind: UnavailableKind;

  constructor(message?: string, kind: UnavailableKind = "no_answer") {
    super(message);
    this.kind = kind;
  }
}

/** In which way the store did not answer; a label of /metrics. */
export type UnavailableKind = "timeout" | "unreachable" | "refused" | "no_answer";

/** The store answered, but a record or a reply is not of the shape the script promises. On the wire: 500. */
export class StoreFault extends Error {
  override name = "StoreFault";
}

/** One script was to touch records that this store keeps on different shards; nothing was run. On the wire: 400. */
export class KeysApart extends Error {
  override name = "KeysApart";
}

/** What a store error says, without the command that the SDK puts behind it (it carries every argument). */
export function storeMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split(", command was:", 1)[0] ?? "";
}

/** True for an error the store itself reported of our script: a record of another type, a bad number. */
export function isScriptError(message: string): boolean {
  if (message.startsWith("WRONGTYPE")) return true;
  return message.startsWith("ERR") && /user_script|script:|@user_function/.test(message);
}
