import { type ChildProcess, spawn } from "node:child_process";

/** Sees to it that `child` gets SIGTERM when this process is gone, however it went; gives the watching process. */
export function endWithParent(child: ChildProcess): ChildProcess | undefined {
  if (child.pid === undefined) return undefined;
  // Its input ends when this process does, even by SIGKILL: nobody else holds the other end of the pipe.
  const script = 'read -r _; kill "$1" 2>/dev/null';
  const guard = spawn("/bin/sh", ["-c", script, "guard", String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.on("error", () => {});
  guard.unref();
  return guard;
}
