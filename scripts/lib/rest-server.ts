import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ErrorReply } from "@redis/client";
import { createTokenCheck } from "./rest-auth.ts";
import { readBody, TooLarge } from "./rest-body.ts";
import {
  BadRequest,
  type Command,
  formatError,
  formatReplies,
  formatReply,
  parseCommand,
  parseCommands,
  parsePath,
  type Reply,
} from "./rest-protocol.ts";
import { type RedisConnection, RedisDown } from "./rest-redis.ts";
import { whyUnavailable } from "./rest-refused.ts";
import { createScriptTranslator } from "./rest-scripts.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT"];

/** Answers the Upstash REST protocol (upstash.com/docs/redis/features/restapi) from one Redis connection. */
export function createRestHandler(redis: RedisConnection, token: string): RequestListener {
  const isAllowed = createTokenCheck(token);
  const scripts = createScriptTranslator();

  const run = async (commands: Command[]): Promise<Reply[]> => {
    const refusals = commands.map(whyUnavailable);
    const allowed = commands.filter((_, at) => refusals[at] === undefined);
    const replies = await redis.run(allowed.map(scripts.command));
    const next = replies.values();
    return commands.map((command, at) => {
      const refusal = refusals[at];
      return refusal === undefined
        ? scripts.reply(command, next.next().value ?? null)
        : new ErrorReply(refusal);
    });
  };
  const transact = async (commands: Command[]): Promise<Reply[]> => {
    const refusal = commands.map(whyUnavailable).find((why) => why !== undefined);
    if (refusal) throw new BadRequest(refusal);
    const replies = await redis.transaction(commands.map(scripts.command));
    if (replies instanceof ErrorReply) throw new BadRequest(replies.message);
    return replies.map((reply, at) => scripts.reply(commands[at] ?? [], reply));
  };

  const respond = async (
    path: string,
    query: URLSearchParams,
    body: Buffer,
    base64: boolean,
  ): Promise<Answer> => {
    if (path === "/pipeline") return [200, formatReplies(await run(parseCommands(body.toString())), base64)];
    if (path === "/multi-exec")
      return [200, formatReplies(await transact(parseCommands(body.toString())), base64)];
    const command = path === "/" ? parseCommand(body.toString()) : parsePath(path, query, body);
    const [reply = null] = await run([command]);
    return [reply instanceof ErrorReply ? 400 : 200, formatReply(reply, base64)];
  };

  return async (request, response) => {
    const [path, query] = splitUrl(request.url ?? "/");
    if (!isAllowed(request, query)) return refuse(response, 401, "WRONGPASS missing or wrong token");
    if (!METHODS.includes(request.method ?? "")) {
      response.setHeader("allow", METHODS.join(", "));
      return refuse(response, 405, `ERR method ${request.method} is not allowed`);
    }
    try {
      const base64 = request.headers["upstash-encoding"] === "base64";
      send(response, await respond(path, query, await readBody(request), base64));
    } catch (error) {
      if (error instanceof TooLarge) return refuse(response, 413, error.message);
      send(response, failure(error));
    }
  };
}

type Answer = [status: number, body: string];

function failure(error: unknown): Answer {
  if (error instanceof BadRequest) return [400, formatError(error.message)];
  if (error instanceof RedisDown) return [503, formatError(error.message)];
  return [500, formatError(`ERR ${error instanceof Error ? error.message : "unknown"}`)];
}

function send(response: ServerResponse<IncomingMessage>, [status, body]: Answer) {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** Answers before the body was read: closing the connection is what keeps it from being read. */
function refuse(response: ServerResponse<IncomingMessage>, status: number, message: string) {
  response.setHeader("connection", "close");
  send(response, [status, formatError(message)]);
}

function splitUrl(url: string): [path: string, query: URLSearchParams] {
  const mark = url.indexOf("?");
  return mark < 0 ? [url, NO_QUERY] : [url.slice(0, mark), new URLSearchParams(url.slice(mark + 1))];
}

const NO_QUERY = new URLSearchParams();
