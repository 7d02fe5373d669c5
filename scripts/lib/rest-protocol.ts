import { ErrorReply } from "@redis/client";

/** One argument of a Redis command: text, or bytes that came as a request body. */
export type Argument = string | Buffer;
/** A Redis command: its name and arguments. */
export type Command = Argument[];
/** A RESP2 reply as the connection gives it: integers and statuses are strings, bulk strings are Buffers. */
export type Reply = null | string | Buffer | ErrorReply | Reply[];

/** A request that the caller must change; it is answered with 400 and its message. */
export class BadRequest extends Error {}

// JSON.rawJSON and the reviver's source text are in Node 24 but not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Reads a body holding one command; throws BadRequest when it is no JSON array of arguments. */
export function parseCommand(body: string): Command {
  const value = parseJson(body);
  return plainCommand(value) ?? exactCommand(parseExactly(body));
}

/** Reads a body holding a list of commands; throws BadRequest when it is anything else or empty. */
export function parseCommands(body: string): Command[] {
  const value = parseJson(body);
  if (!Array.isArray(value) || value.length === 0) {
    throw new BadRequest("ERR expected a JSON array of commands, each an array itself");
  }
  const plain = value.map(plainCommand);
  const isPlain = (commands: (Command | undefined)[]): commands is Command[] => !commands.includes(undefined);
  return isPlain(plain) ? plain : (parseExactly(body) as unknown[]).map(exactCommand);
}

/** Reads a command from a path such as `/set/key/value` and its query; `body` goes between the two, if not empty. */
export function parsePath(path: string, query: URLSearchParams, body: Buffer): Command {
  const command: Command = path.slice(1).split("/").map(decodeSegment);
  if (command[0] === "") throw new BadRequest("ERR empty command");
  if (body.length > 0) command.push(body);
  for (const [name, value] of query) {
    if (name === "_token") continue;
    command.push(name);
    if (value !== "") command.push(value);
  }
  return command;
}

/** Writes `{"result": …}` or `{"error": …}`; with `base64` all strings but a plain OK are base64. */
export function formatReply(reply: Reply, base64: boolean): string {
  if (reply instanceof ErrorReply) return formatError(reply.message);
  return `{"result":${reply === "OK" ? '"OK"' : formatValue(reply, base64)}}`;
}

/** Writes the answer to a list of commands: one entry each, an error in its place. */
export function formatReplies(replies: Reply[], base64: boolean): string {
  return `[${replies.map((reply) => formatReply(reply, base64)).join(",")}]`;
}

/** Writes `{"error": …}`. */
export function formatError(message: string): string {
  return JSON.stringify({ error: message });
}

function formatValue(reply: Reply, base64: boolean): string {
  if (reply === null) return "null";
  if (Array.isArray(reply)) return `[${reply.map((item) => formatValue(item, base64)).join(",")}]`;
  if (reply instanceof ErrorReply) return formatError(reply.message);
  if (typeof reply !== "string") return formatString(reply, base64);
  // Integers come as text, since beyond 2^53 a JavaScript number would change them.
  return /^-?\d+$/.test(reply) ? reply : formatString(Buffer.from(reply), base64);
}

function formatString(bytes: Buffer, base64: boolean): string {
  return base64 ? `"${bytes.toString("base64")}"` : JSON.stringify(bytes.toString());
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BadRequest("ERR the path is not valid percent-encoded UTF-8");
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new BadRequest("ERR the body is not valid JSON");
  }
}

/** The quick way: undefined as soon as an argument's text could differ from what was sent. */
function plainCommand(value: unknown): Command | undefined {
  if (!Array.isArray(value)) return undefined;
  const command: Command = [];
  for (const argument of value) {
    if (typeof argument === "string") command.push(argument);
    else if (Number.isSafeInteger(argument)) command.push(String(argument));
    else return undefined;
  }
  return command.length > 0 ? command : undefined;
}

/** Parses again with each number kept as it was written: 1.10 stays 1.10, 2^53+1 stays itself. */
function parseExactly(body: string): unknown {
  const keepNumber = (_: string, value: unknown, context?: { source: string }) =>
    typeof value === "number" && context ? rawJSON(context.source) : value;
  return JSON.parse(body, keepNumber as (key: string, value: unknown) => unknown);
}

function exactCommand(value: unknown): Command {
  if (!Array.isArray(value) || typeof value[0] !== "string") {
    throw new BadRequest("ERR expected a JSON array: a command name and its arguments");
  }
  return value.map((argument) => (typeof argument === "string" ? argument : JSON.stringify(argument)));
}
