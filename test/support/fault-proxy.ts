import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request to the store: what it asks, and how to really ask it. */
interface Ask {
  text: string;
  /** Asks the front behind what was asked, or something else; gives its answer as it came. */
  forward(instead?: string): Promise<{ status: number; text: string }>;
  /** Waits until the test lets it go on, once for each lane; later requests of the lane pass at once. */
  held(): Promise<void>;
  answer(status: number, text: string, type?: string): void;
  /** Announces the whole text, sends half of it and closes the connection. */
  cut(text: string): void;
  close(): void;
}

const jsonError = (error: string) => JSON.stringify({ error });
const HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>";

/** Every way of misbehaving, by the name that stands in the URL. Refusals quote what was sent, as some stores do. */
const FAULTS: Record<string, (ask: Ask) => unknown> = {
  none: pass,
  hang: () => {},
  refuse: ({ close }) => close(),
  drop: (ask) => ask.forward().then(ask.close),
  lose: (ask) => ask.forward().then(() => ask.answer(502, HTML, "text/html")),
  cut: (ask) => ask.forward().then(({ text }) => ask.cut(text)),
  truncated: (ask) => ask.forward().then(({ text }) => ask.answer(200, text.slice(0, -2))),
  html: ({ answer }) => answer(200, HTML, "text/html"),
  html502: ({ answer }) => answer(502, HTML, "text/html"),
  quota400: ({ answer, text }) => answer(400, jsonError(`ERR max daily request limit exceeded. ${text}`)),
  quota429: ({ answer, text }) => answer(429, jsonError(`ERR max requests limit exceeded. ${text}`)),
  error500: ({ answer, text }) => answer(500, jsonError(`ERR internal ${text}`)),
  oom: ({ answer, text }) => answer(400, jsonError(`OOM command not allowed, on @user_script:3. ${text}`)),
  wrongtype: ({ answer, text }) =>
    answer(400, jsonError(`WRONGTYPE Operation against a key, on @user_script:3. ${text}`)),
  noscript: ({ answer }) => answer(400, jsonError("NOSCRIPT No matching script. Please use EVAL.")),
  empty: ({ answer }) => answer(200, "{}"),
  null: ({ answer, text }) => answer(200, resultOf(text, "null")),
  arity: ({ answer, text }) => answer(200, resultOf(text, `["odd",1,"odd",1,"odd",1,"odd",1,"odd",1]`)),
  short: ({ answer, text }) => answer(200, resultOf(text, "[]")),
  forgetful: (ask) => (/^\["evalsha"/i.test(ask.text) ? FAULTS.noscript?.(ask) : pass(ask)),
  strict,
  holdAnswer: async (ask) => {
    const { status, text } = await ask.forward();
    await ask.held();
    ask.answer(status, text);
  },
  holdRequest: (ask) => ask.held().then(() => pass(ask)),
};

async function pass({ forward, answer }: Ask) {
  const { status, text } = await forward();
  answer(status, text);
}

/** Runs scripts under a watch that ends them with an error when they touch a key they did not declare. */
async function strict(ask: Ask) {
  const [command = "", source, ...rest] = JSON.parse(ask.text) as string[];
  if (/^evalsha$/i.test(command)) return FAULTS.noscript?.(ask);
  if (!/^eval$/i.test(command)) return pass(ask);
  const { status, text } = await ask.forward(JSON.stringify([command, WATCH + source, ...rest]));
  ask.answer(status, text);
}

/** Commands that take more keys than one: every argument, or every second. */
const WATCH = `
local redis = (function(real)
  local declared, steps = {}, { MGET = 1, DEL = 1, UNLINK = 1, EXISTS = 1, TOUCH = 1, MSET = 2 }
  for _, key in ipairs(KEYS) do declared[key] = true end
  local function watched(run)
    return function(name, ...)
      local args, step = { ... }, steps[string.upper(name)]
      for at = 1, step and #args or 1, step or 1 do
        if not declared[args[at]] then error('undeclared key of ' .. name .. ': ' .. tostring(args[at])) end
      end
      return run(name, ...)
    end
  end
  return { call = watched(real.call), pcall = watched(real.pcall), error_reply = real.error_reply }
end)(redis)
`;

/** The same result for one command, or for each of a pipeline. */
function resultOf(sent: string, result: string): string {
  const one = `{"result":${result}}`;
  const pipelined = JSON.parse(sent) as unknown[];
  return Array.isArray(pipelined[0]) ? `[${pipelined.map(() => one).join()}]` : one;
}

interface Lane {
  seen: number;
  reached: PromiseWithResolvers<void>;
  letGo: PromiseWithResolvers<void>;
  holding: boolean;
}

/**
 * Starts a front that misbehaves before the real one. Its URL is followed by `/<fault>/<lane>`; a fault `hang@members`
 * meets only requests that name a key ending in `:members`, others pass. `/-/<question>/<lane>` tells what a lane saw.
 */
export async function startFaultProxy(restUrl: string) {
  const lanes = new Map<string, Lane>();
  const laneOf = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane = {
      seen: 0,
      reached: Promise.withResolvers<void>(),
      letGo: Promise.withResolvers<void>(),
      holding: false,
    };
    lanes.set(name, lane);
    return lane;
  };

  const server = createServer(async (request, response) => {
    const [, first = "", second = "", third = "", ...rest] = (request.url ?? "").split("/");
    if (first === "-") return control(second, laneOf(third), response);
    const lane = laneOf(second);
    const text = await textOf(request);
    const [fault = "", suffix] = decodeURIComponent(first).split("@");
    const met = suffix === undefined || text.includes(`:${suffix}"`);
    if (met) lane.seen += 1;
    const path = [third, ...rest].join("/");
    const act = FAULTS[met ? fault : "none"];
    if (!act) return reply(response, 404, jsonError(`ERR no fault ${fault}`));
    const front = `${restUrl}/${path}`;
    await act(askOf(lane, text, (instead = text) => forward(front, request, instead), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function control(question: string, lane: Lane, response: ServerResponse) {
  if (question === "held") await lane.reached.promise;
  if (question === "let-go") lane.letGo.resolve();
  reply(response, 200, String(lane.seen));
}

function askOf(lane: Lane, text: string, forward: Ask["forward"], response: ServerResponse): Ask {
  return {
    text,
    forward,
    async held() {
      if (lane.holding) return;
      lane.holding = true;
      lane.reached.resolve();
      await lane.letGo.promise;
    },
    answer: (status, body, type) => reply(response, status, body, type),
    cut(body) {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body) + 1,
      });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
    },
    close: () => response.destroy(),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function forward(url: string, request: IncomingMessage, body: string) {
  const { authorization = "" } = request.headers;
  const answer = await fetch(url, { method: "POST", headers: { authorization }, body });
  return { status: answer.status, text: await answer.text() };
}

function reply(response: ServerResponse, status: number, body: string, type = "application/json") {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
