import { connect, createServer } from "node:net";

/** Gives a TCP port on 127.0.0.1 that was free at the moment of asking; rejects when the system has none. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** Tells whether something accepts connections on that TCP port of `host`; never rejects. */
export function isBusy(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const answer = (busy: boolean) => {
      socket.destroy();
      resolve(busy);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}
