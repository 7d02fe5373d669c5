import { createClient } from "@redis/client";

/** What a piece of work cost a Redis that nobody else uses. */
export interface Cost {
  /** Commands by the way a hosted Redis bills them: each one sent, and each redis.call inside a script. */
  commands: number;
  /** Processor time of Redis, user and system, less what it uses while idle, in microseconds. */
  cpuMicros: number;
  /** Time spent executing commands and scripts, without the network, in microseconds. */
  executionMicros: number;
  /** Wall clock, in milliseconds. */
  wallMs: number;
}

const NOT_BILLED = /^(info|config|client|hello|ping|command|auth|select|script)(\||$)/;

/** Meters one Redis; close() lets go of it. */
export async function meterRedis(url: string) {
  const redis = createClient({ url });
  await redis.connect();
  const cpu = async () => {
    const text = await redis.info("cpu");
    const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
    return seconds("used_cpu_user") + seconds("used_cpu_sys");
  };
  const idleFrom = performance.now();
  const idleCpu = await cpu();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const idleMicrosPerMs = (((await cpu()) - idleCpu) * 1e6) / (performance.now() - idleFrom);
  return {
    async measure(work: () => Promise<void>): Promise<Cost> {
      await redis.configResetStat();
      const cpuBefore = await cpu();
      const startedAt = performance.now();
      await work();
      const wallMs = performance.now() - startedAt;
      const cpuMicros = Math.max(0, ((await cpu()) - cpuBefore) * 1e6 - wallMs * idleMicrosPerMs);
      const text = await redis.info("commandstats");
      const stats = [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)];
      const billed = stats.filter(([, name = ""]) => !NOT_BILLED.test(name));
      // The time of a script holds that of the commands it calls.
      const scripts = billed.filter(([, name = ""]) => name.startsWith("eval"));
      const commands = billed.reduce((sum, [, , calls]) => sum + Number(calls), 0);
      const executionMicros = (scripts.length > 0 ? scripts : billed).reduce(
        (sum, one) => sum + Number(one[3]),
        0,
      );
      return { commands, cpuMicros, executionMicros, wallMs };
    },
    close: () => redis.close(),
  };
}
