import { connect } from "node:net";

/** Sends one command to the Redis on 127.0.0.1 and gives its raw reply; rejects when nothing listens or answers in `timeoutMs`. */
export function askRedis(port: number, command: string, timeoutMs = 2_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${command}\r\nQUIT\r\n`));
    let reply = "";
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer to ${command}`)));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      reply += chunk;
    });
    socket.once("end", () => resolve(reply));
    socket.once("error", reject);
  });
}
