import { request } from "node:http";
import { expect, test } from "vitest";
import { startFront, TOKEN } from "./front.ts";

const { rest, post, run } = await startFront();
const LIMIT = 10 * 1024 * 1024;

/** Announces `length` bytes (chunked when undefined), sends 64 KiB at a time, and stops at the answer. */
function send(length: number | undefined): Promise<{ status: number | undefined; sent: number }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...(length && { "content-length": length }) };
    const call = request(`${rest.url}/set/big`, { method: "POST", headers });
    const chunk = Buffer.alloc(65_536, "x");
    let sent = 0;
    let isAnswered = false;
    const write = () => {
      if (isAnswered || sent > 2 * LIMIT) return;
      sent += chunk.length;
      call.write(chunk, () => setImmediate(write));
    };
    call.once("response", (response) => {
      isAnswered = true;
      resolve({ status: response.statusCode, sent });
      call.destroy();
    });
    call.on("error", (error) => isAnswered || reject(error));
    write();
  });
}

test("a body of 10 MiB arrives whole", async () => {
  const value = "x".repeat(LIMIT - 100);
  expect((await post("/", ["SET", "big", value])).status).toBe(200);
  expect(await run("STRLEN", "big")).toBe(value.length);
  expect(await run("GET", "big")).toBe(value);
});

test("a body announced as larger is refused before it is sent", async () => {
  const { status, sent } = await send(2 * LIMIT);
  expect(status).toBe(413);
  expect(sent).toBeLessThan(LIMIT);
});

test("a body that grows larger unannounced is refused once it does", async () => {
  const { status, sent } = await send(undefined);
  expect(status).toBe(413);
  expect(sent).toBeLessThan(2 * LIMIT);
});
