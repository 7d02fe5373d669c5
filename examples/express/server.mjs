// An Express service whose callers share a limit kept by Fleetgate, so that it holds over all its replicas.
//
//   npm install express
//   FLEETGATE_URL=https://gate.example.com FLEETGATE_KEY=fg_… node server.mjs
import express from "express";

const { FLEETGATE_URL, FLEETGATE_KEY, LIMIT = "api", PORT = "3000" } = process.env;

/** Takes `cost(request)` from a limit for every request; the limit's key is `key(request)`. */
function rateLimit({ limit, key = (request) => request.ip, cost = () => 1 }) {
  return async (request, response, next) => {
    const take = await ask(limit, { key: key(request), cost: cost(request) });
    // Without an answer the service goes on; one that must not would answer 503 here.
    if (!take) return next();
    for (const name of ["ratelimit", "ratelimit-policy", "retry-after"]) {
      const value = take.headers.get(name);
      if (value) response.set(name, value);
    }
    if (take.body.allowed) return next();
    response.status(429).json({ error: "too many requests", retry_after_ms: take.body.retry_after_ms });
  };
}

async function ask(limit, body) {
  try {
    const answer = await fetch(`${FLEETGATE_URL}/v1/limits/${encodeURIComponent(limit)}/take`, {
      method: "POST",
      headers: { authorization: `Bearer ${FLEETGATE_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(1_000),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${(await answer.json()).code}`);
    return { headers: answer.headers, body: await answer.json() };
  } catch (error) {
    console.error(`no limit without Fleetgate: ${error.message}`);
    return undefined;
  }
}

const app = express();
app.use(rateLimit({ limit: LIMIT }));
app.get("/", (_request, response) => response.json({ hello: "world" }));

const server = app.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
