import { statSync } from "node:fs";
import { createServer } from "node:net";

/**
 * Holds a folder for this process alone; rejects when another holds it. Gives what lets go, and the kernel does so too
 * when the process ends, however it went. Only Linux has such names; elsewhere nothing is held.
 */
export async function holdFolder(dir: string): Promise<() => Promise<void>> {
  if (process.platform !== "linux") return async () => {};
  // Not by its path: containers on one network may each have such a folder.
  const { dev, ino } = statSync(dir);
  const server = createServer().unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", () => reject(new Error(`${dir} is in use by another start`)));
    server.listen(`\0fleetgate-${dev}-${ino}`, resolve);
  });
  return () => new Promise((resolve) => server.close(() => resolve()));
}
