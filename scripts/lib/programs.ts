import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Gives the path of the first of these programs that is on PATH; throws an Error that names them all when none is. */
export function findProgram(...names: string[]): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found) return found;
  }
  throw new Error(`${names.join(" or ")} is not installed`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
