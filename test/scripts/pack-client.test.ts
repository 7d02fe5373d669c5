import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packClient } from "../../scripts/lib/client-package.ts";
import { runScript } from "./dev-process.ts";

const require = createRequire(import.meta.url);
const TSC = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
const NODE_TYPES = dirname(dirname(require.resolve("@types/node/package.json")));

let dir: string;
let project: string;

/** The machine's own Node, which may be older than the one that the project brings along. */
function ownNode(): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((one) => !one.includes("node_modules"));
  return folders.map((one) => join(one, "node")).find(existsSync) ?? process.execPath;
}

function run(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd: project, encoding: "utf8", stdio: "pipe", timeout: 60_000 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}

function typeCheck(name: string, options: object): string {
  const common = { module: "nodenext", target: "es2022", strict: true, noEmit: true };
  const config = { compilerOptions: { ...common, ...options }, files: ["consumer.ts"] };
  writeFileSync(join(project, name), JSON.stringify(config));
  return run(process.execPath, TSC, "-p", name);
}

it.each([
  ["--nonsense", "Unknown option '--nonsense'"],
  ["a b", '"b" is one folder too many'],
  ["/dev/null/x", "ENOTDIR"],
])("scripts/pack-client %s is one line and exit code 1", async (args, why) => {
  const run = runScript("pack-client", args.split(" "));
  expect(await run.ended).toBe(1);
  expect(run.said.stdout).toBe("");
  expect(run.said.stderr).toMatch(/^fleetgate pack-client: .*\n$/);
  expect(run.said.stderr).toContain(why);
});

describe("the packed client", { timeout: 120_000 }, () => {
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "fleetgate-pack-"));
    project = join(dir, "app");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{"name":"app","private":true,"type":"module"}');
    const tarball = packClient(dir);
    run("npm", "install", "--offline", "--no-audit", "--no-fund", tarball);
  }, 120_000);
  afterAll(() => rmSync(dir, { recursive: true }));

  it("brings no dependency, no server code and no schema library", () => {
    const packages = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")).packages;
    expect(Object.keys(packages)).toEqual(["", "node_modules/fleetgate"]);
    const root = join(project, "node_modules/fleetgate");
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    expect(existsSync(join(root, "LICENSE"))).toBe(true);
    expect(existsSync(join(root, "queues/schema.js"))).toBe(false);
    expect(readFileSync(join(root, "queues/schema.d.ts"), "utf8")).not.toMatch(/import|zod/);
  });

  it("runs in the machine's own Node, under both of its names, with a thread of its own too", () => {
    writeFileSync(
      join(project, "program.js"),
      `import { createServer } from "node:http";
      import { createClient } from "fleetgate/client";
      import * as root from "fleetgate";
      const answers = {
        heartbeat: { ttl_ms: 3000, next_heartbeat_ms: 1000, directive: "run", lost: [] },
        leave: { left: true, released: [] },
        acquire: { granted: true, lease: { id: "l", class: "normal", ttl_ms: 3000 } },
        release: { released: ["l"], missing: [] },
        complete: { completed: true, already: false },
      };
      let tasks = ['{"payload":{"n":9007199254740993},"id":"t1","delivery":1,"deadline_at":1790000009000,' +
        '"lease":{"id":"t","ttl_ms":3000,"expires_at":1790000003000}}'];
      const answer = (url) => {
        const call = url.split("/").at(-1);
        if (call !== "claim") return JSON.stringify(answers[call]);
        const text = '{"tasks":[' + tasks + '],"retry_after_ms":50}';
        tasks = [];
        return text;
      };
      const client = createClient({
        url: "http://stub",
        key: "fg_key",
        fetch: async (url) => new Response(answer(url), { headers: { "content-type": "application/json" } }),
      });
      const pod = await client.fleet("render").join({ cluster: "eu", pod: "w-0" });
      const lease = await pod.acquire();
      const warnings = [];
      process.on("warning", ({ message }) => warnings.push(message));
      const seen = [await lease.release()];
      await Promise.all(Array.from({ length: 12 }, () => pod.acquire()));
      seen.push(await pod.leave());
      let texts = "";
      const worker = await client.queue("infer").work(
        (_, { task }) => { texts += task.payloadText; worker.stop(); },
        { cluster: "eu", pod: "w-1", fleet: "render", waitMs: 0 },
      );
      await worker.done;
      seen.push(texts, worker.counts.completed, root.createClient === createClient);

      const server = createServer((request, response) => response.end(answer(request.url)));
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = "http://127.0.0.1:" + server.address().port;
      const threaded = await createClient({ url, key: "fg_key" })
        .fleet("render").join({ cluster: "eu", pod: "w-2", thread: true });
      seen.push(await threaded.leave());
      server.close();
      console.log(JSON.stringify([...seen, ...warnings]));`,
    );
    expect(JSON.parse(run(ownNode(), "program.js"))).toEqual([
      "released",
      "left",
      '{"n":9007199254740993}',
      1,
      true,
      "left",
    ]);
  });

  it("has types that need nothing else, with the browser's names or Node's", () => {
    writeFileSync(
      join(project, "consumer.ts"),
      `import { createClient, TaskError, type Worker } from "fleetgate/client";
      import type { ClaimedTask, QueueAnswer } from "fleetgate";
      const client = createClient({ url: "https://gate.example.com", key: "fg_key" });
      export const live: number = (await client.fleet("render").status()).live;
      // @ts-expect-error a number is no string: the types are whole
      export const wrong: string = (await client.fleet("render").status()).live;
      const queue = client.queue("infer");
      await queue.enqueue({ payload: { frame: 7 }, priority: 9 });
      // @ts-expect-error the wire has no such field
      await queue.enqueue({ payload: 1, prio: 9 });
      // @ts-expect-error a payload must be given
      await queue.enqueue({});
      const acquired = await client.fleet("render").acquire({ cluster: "eu", pod: "w-0" });
      export const word: string = acquired.granted ? acquired.lease.id : acquired.reason;
      export const worker: Worker = await queue.work(
        async (payload: { frame: number }, { signal, task }) => {
          signal.throwIfAborted();
          if (payload.frame < 0) throw new TaskError("no such frame", { retry: false });
          return { text: task.payloadText };
        },
        { cluster: "eu", pod: "w-0", concurrency: 2, graceMs: 1_000 },
      );
      for await (const event of client.fleet("render").events()) {
        // @ts-expect-error only a replaced pod has an instance before
        if (event.event === "joined") event.before;
        if (event.event === "policy") take(event.policy.ttl_ms);
      }
      function take(_: number) {}
      export type Both = [ClaimedTask["lease"]["id"], QueueAnswer["config"]["fleet"]];
      export async function once() {
        await using pod = await client.fleet("render").join({ cluster: "eu", pod: "w-1" });
        return pod.state;
      }`,
    );
    expect(typeCheck("dom.json", { lib: ["es2022", "dom"], types: [] })).toBe("");
    expect(typeCheck("node.json", { lib: ["es2022"], types: ["node"], typeRoots: [NODE_TYPES] })).toBe("");
  });
});
