import { createClient } from "@redis/client";

/** A plain connection to the Redis under test. */
export interface RawRedis {
  send<Reply>(...command: (string | number)[]): Promise<Reply>;
  close(): void;
}

/** Connects to the Redis under test; commands of one turn go out together, as the client's default is. */
export async function connectRaw(url: string): Promise<RawRedis> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, maintNotifications: "disabled" });
  client.on("error", () => {});
  await client.connect();
  return {
    send: (...command) => client.sendCommand(command.map(String)),
    close: () => client.destroy(),
  };
}

/** Commands as Upstash would bill them since the last call: every one, also those inside scripts. */
export async function takeCommandCount(redis: RawRedis): Promise<{ all: number; by: Map<string, number> }> {
  const stats = await redis.send<string>("INFO", "commandstats");
  await redis.send("CONFIG", "RESETSTAT");
  const by = new Map<string, number>();
  for (const [, name = "", calls] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm))
    if (!OWN.has(name)) by.set(name, Number(calls));
  return { all: [...by.values()].reduce((sum, calls) => sum + calls, 0), by };
}

/** Microseconds of processor time that Redis has used since it started. */
export async function redisCpuMicros(redis: RawRedis): Promise<number> {
  const cpu = await redis.send<string>("INFO", "cpu");
  const seconds = [...cpu.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, used]) => Number(used));
  return seconds.reduce((sum, used) => sum + used, 0) * 1e6;
}

/** What measuring itself sends. */
const OWN = new Set([
  "info",
  "config|resetstat",
  "config|set",
  "config|get",
  "hello",
  "client|setinfo",
  "ping",
]);
