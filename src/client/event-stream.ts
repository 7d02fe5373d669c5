/** One message of a stream of server-sent events: those of its fields that were sent. */
export type Message = Partial<Record<"id" | "event" | "data" | "retry", string>>;

/**
 * Reads a body as server-sent events until it ends or the signal fires. A comment alone is a message without fields, and
 * one that was cut off is none.
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Message, void, void> {
  const reader = body.getReader();
  // Whoever stops reading hangs up, also on a body that knows no signal.
  const hangUp = () => reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", hangUp, { once: true });
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield messageOf(part);
    }
  } finally {
    signal.removeEventListener("abort", hangUp);
    await hangUp();
  }
}

function messageOf(text: string): Message {
  const lines = text.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
  return Object.fromEntries(lines.flatMap(([, name, value]) => (name === undefined ? [] : [[name, value]])));
}
