import type { FleetVerdict } from "./fleet-demo.ts";
import type { QueueVerdict } from "./queue-demo.ts";

/** The verdict on the gate in words, without its last line. */
export function fleetReport(verdict: FleetVerdict): string[] {
  const { mostHeld, leaks } = verdict;
  return [
    `processes        ${verdict.processes}; those killed held ${verdict.killedWhileHolding} slots, each until its ttl`,
    `grants           ${verdict.grants} (high ${verdict.high}); ${verdict.tookTheLast} took the last slot their class could have`,
    `most held        ${mostHeld.held} slots at once, with ${mostHeld.capacity} allowed at that grant (N ${mostHeld.live})`,
    `without a slot   ${verdict.degraded} grants were labelled degraded while the coordinator was out of reach`,
    `tasks            ${verdict.finished} finished, ${verdict.lost} stopped because their lease was lost`,
    `left at the end  ${leaks.live} pods, ${leaks.busy} slots`,
    `(the processes' clock and the coordinator's agree to within ${verdict.clockSlackMs} ms)`,
  ];
}

/** The account of the queue in words, without its last line. */
export function queueReport(verdict: QueueVerdict): string[] {
  const { enqueued, completed, dead, leaks } = verdict;
  return [
    `processes        ${verdict.processes}`,
    `account          ${enqueued} enqueued = ${completed} completed + ${dead} dead`,
    `deliveries       ${verdict.deliveries}, ${verdict.redelivered} of them again; ${verdict.rejected} late reports were refused`,
    `lost answers     ${verdict.duplicates} enqueues were asked twice and taken once, ${verdict.unheard} completions unheard`,
    `left at the end  ${leaks.live} pods, ${leaks.busy} slots, ${leaks.in_flight} tasks in flight`,
  ];
}
