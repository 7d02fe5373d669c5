/** What a process of the demo is told at its start. */
export interface ProcessSettings {
  url: string;
  key: string;
  fleet: string;
  queue: string;
  cluster: string;
  name: string;
  /** Where it writes down what it does, and what its forerunner of the same name wrote. */
  file: string;
  forerunner?: string;
  onUnavailable: "open" | "closed";
}

const VARIABLE = "FLEETGATE_DEMO_PROCESS";

/** The environment variable that hands settings to a process; arguments would show the key to every user. */
export function settingsForChild(settings: ProcessSettings): { [name: string]: string } {
  return { [VARIABLE]: JSON.stringify(settings) };
}

/** Reads what the parent handed over; throws when nobody did. */
export function settingsFromParent(): ProcessSettings {
  const text = process.env[VARIABLE];
  if (!text) throw new Error("this file is started by scripts/demo");
  return JSON.parse(text) as ProcessSettings;
}
