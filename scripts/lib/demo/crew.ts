import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nowMs } from "./clock.ts";
import type { Trail } from "./lines.ts";
import { TASK_KILLED } from "./queue-lines.ts";
import { type ProcessSettings, settingsForChild } from "./settings.ts";

/** A process of the demo while it runs. */
export interface Member {
  record: Trail<never>;
  child: ChildProcess;
  /** What the demo did to end it. */
  asked: "SIGTERM" | "SIGKILL" | undefined;
  gone: Promise<void>;
}

/** The operating-system processes of a demo, found by cluster and name. */
export interface Crew {
  start(program: string, cluster: string, name: string, forerunner?: string): Member;
  /** Those running that nobody has asked to end, in order of their names. */
  running(cluster?: string): Member[];
  /** Names taken in a cluster, also by processes that are still draining. */
  names(cluster: string): Set<string>;
  end(member: Member, signal: "SIGTERM" | "SIGKILL"): void;
  /** Waits until all have ended, at most `ms`; gives those that had to be killed then. */
  disband(ms: number): Promise<Member[]>;
  /** What each process that ever ran wrote down, and where. */
  records(): Trail<never>[];
  /** Processes that ended although nobody had asked them to, or badly although asked nicely. */
  failures(): string[];
}

/** Makes an empty crew whose processes write into `dir`; one that its own task took down is told to `onTaskKilled`. */
export function makeCrew(
  dir: string,
  common: Pick<ProcessSettings, "url" | "key" | "fleet" | "queue">,
  onTaskKilled: (record: Trail<never>) => void = () => {},
): Crew {
  const alive = new Set<Member>();
  const records: Trail<never>[] = [];
  const failures: string[] = [];
  let disbanding = false;

  const running = (cluster?: string) =>
    [...alive]
      .filter(({ record, asked }) => !asked && (cluster === undefined || record.cluster === cluster))
      .sort((one, other) => numberOf(one) - numberOf(other));

  function end(member: Member, signal: "SIGTERM" | "SIGKILL"): void {
    member.asked = signal;
    if (signal === "SIGKILL") member.record.killedAt = nowMs();
    member.child.kill(signal);
  }

  return {
    running,
    names: (cluster) =>
      new Set([...alive].flatMap(({ record }) => (record.cluster === cluster ? [record.name] : []))),
    end,
    records: () => records,
    failures: () => failures,

    start(program, cluster, name, forerunner) {
      const file = join(dir, `${records.length}.${cluster}.${name}.jsonl`);
      const record: Trail<never> = { cluster, name, file, entries: [] };
      const settings: ProcessSettings = {
        ...common,
        cluster,
        name,
        file,
        ...(forerunner !== undefined && { forerunner }),
        onUnavailable: cluster === CLOSED_CLUSTER ? "closed" : "open",
      };
      // Its own process group: Ctrl-C must reach only us, who then end it in order.
      const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url))], {
        env: { ...process.env, ...settingsForChild(settings) },
        stdio: ["ignore", "ignore", "pipe", "ipc"],
        detached: true,
      });
      let complaint = "";
      child.stderr?.setEncoding("utf8").on("data", (chunk) => {
        complaint = (complaint + chunk).slice(0, 2_000);
      });
      const gone = new Promise<void>((resolve) => {
        child.once("error", (error) => {
          failures.push(`${cluster}/${name} could not start: ${error.message}`);
          resolve();
        });
        child.once("close", (code, signal) => {
          alive.delete(member);
          const killedByTask = code === TASK_KILLED && !member.asked;
          if (killedByTask) record.killedAt = nowMs();
          const well =
            killedByTask ||
            member.asked === "SIGKILL" ||
            (member.asked === "SIGTERM" && isQuiet(code, signal));
          if (!well) failures.push(`${cluster}/${name} ended with ${signal ?? code}: ${complaint.trim()}`);
          resolve();
          if (killedByTask && !disbanding) onTaskKilled(record);
        });
      });
      const member: Member = { record, child, asked: undefined, gone };
      alive.add(member);
      records.push(record);
      return member;
    },

    async disband(ms) {
      disbanding = true;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([Promise.all([...alive].map(({ gone }) => gone)), late]);
      clearTimeout(timer);
      const left = [...alive];
      for (const member of left) end(member, "SIGKILL");
      await Promise.all(left.map(({ gone }) => gone));
      return left;
    },
  };
}

/** The cluster whose pods wait while the coordinator is out of reach; the others go on without a slot. */
export const CLOSED_CLUSTER = "lab";

/** A SIGTERM before the process had installed its handler ends it on the spot, with nothing taken yet. */
const isQuiet = (code: number | null, signal: NodeJS.Signals | null) =>
  code === 0 || code === TASK_KILLED || signal === "SIGTERM";

const numberOf = ({ record }: Member) => Number(/\d+$/.exec(record.name)?.[0] ?? 0);
