import type { Crew, Member } from "./crew.ts";

/** The clusters of every demo, with the processes each has at first. */
export const CLUSTERS = { aws: 4, gcp: 4, lab: 4 };

/** Starts or drains processes of a cluster until `wanted` run; new ones take the lowest free numbers. */
export function scale(crew: Crew, program: string, cluster: string, wanted: number): void {
  const running = crew.running(cluster);
  const taken = crew.names(cluster);
  for (let number = 0, missing = wanted - running.length; missing > 0; number++) {
    const name = `worker-${number}`;
    if (taken.has(name)) continue;
    missing--;
    crew.start(program, cluster, name);
  }
  for (const member of running.slice(wanted)) crew.end(member, "SIGTERM");
}

/** Kills processes of a cluster, the first ones; gives them. */
export function kill(crew: Crew, cluster: string, count: number): Member[] {
  const struck = crew.running(cluster).slice(0, count);
  for (const member of struck) crew.end(member, "SIGKILL");
  return struck;
}

/** Kills one process and starts it again under its old name at once, as a new instance. */
export function restart(crew: Crew, program: string, cluster: string): void {
  for (const { record } of kill(crew, cluster, 1)) crew.start(program, cluster, record.name, record.file);
}

/** Asks processes of a cluster to end, the last ones: they drain first. */
export function drain(crew: Crew, cluster: string, count: number): void {
  for (const member of crew.running(cluster).slice(-count)) crew.end(member, "SIGTERM");
}
