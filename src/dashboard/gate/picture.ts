import type { FleetsAnswer, StatusAnswer } from "../../fleets/schema.ts";

/** What the picture of a fleet is made from. Counts are slots. */
export interface Picture {
  fleet: string;
  live: number;
  busy: number;
  /** What normal work may hold. */
  capacity: number;
  /** Held by classes that may use the reserve. */
  urgent: number;
  overBy: number;
  available: number;
  starting: number;
  draining: number;
  paused: boolean;
  clusters: { name: string; live: number; busy: number }[];
}

/** The whole picture, from a fleet's status. */
export function pictureOf(status: StatusAnswer): Picture {
  const usual = status.classes.normal?.ratio ?? 1;
  const urgent = Object.values(status.classes).filter(({ ratio }) => ratio > usual);
  const clusters = Object.entries(status.clusters).map(([name, counts]) => ({ name, ...counts }));
  return {
    fleet: status.fleet,
    live: status.live,
    busy: status.busy,
    capacity: status.capacity,
    urgent: urgent.reduce((sum, { busy }) => sum + (busy ?? 0), 0),
    overBy: status.over_by,
    available: status.available,
    starting: status.starting,
    draining: status.draining,
    paused: status.policy.paused,
    clusters: clusters.sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** What a row of the list tells: no classes and no clusters. */
export function pictureOfRow({ fleet, live, busy, capacity }: FleetsAnswer["fleets"][number]): Picture {
  const overBy = Math.max(0, busy - live);
  const available = Math.max(0, capacity - busy);
  const unknown = { urgent: 0, starting: 0, draining: 0, paused: false, clusters: [] };
  return { fleet, live, busy, capacity, overBy, available, ...unknown };
}

/** Slots that only urgent work may take. */
export const reserveOf = ({ live, capacity }: Picture): number => Math.max(0, live - capacity);

/** How many of the reserve are taken. */
export const reserveUsed = (picture: Picture): number =>
  Math.min(reserveOf(picture), Math.max(0, picture.busy - picture.capacity));

/** The picture in one sentence, for those who hear it. */
export function sentenceOf(picture: Picture): string {
  const { fleet, live, busy, urgent, capacity, overBy, clusters } = picture;
  const over = overBy > 0 ? `; over by ${overBy}, nothing is granted` : "";
  const where = clusters.map(({ name, live, busy }) => `${name} ${busy} of ${live}`).join(", ");
  return (
    `${fleet}: ${busy} of ${live} slots held, ${urgent} of them urgent; normal work may hold ${capacity}, ` +
    `reserve ${reserveOf(picture)}, ${reserveUsed(picture)} of it taken${over}.${where ? ` By cluster: ${where}.` : ""}`
  );
}
