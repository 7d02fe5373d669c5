/** A Worker that uses the client, to see that it runs where there is no Node. */
import { createClient, FleetgateError } from "../../../../src/client/index.ts";

export default {
  async fetch(_request: Request, env: { COORDINATOR: string; KEY: string }): Promise<Response> {
    const fleet = createClient({ url: env.COORDINATOR, key: env.KEY }).fleet("render");
    const who = { cluster: "edge", pod: "w-0" };
    const beat = await fleet.heartbeat(who);
    const acquired = await fleet.acquire(who);
    const thread = await fleet.join({ ...who, thread: true }).catch((error: unknown) => error);
    const pod = await fleet.join({ cluster: "edge", pod: "w-1" });
    const lease = await pod.acquire();
    return Response.json({
      directive: beat.directive,
      granted: acquired.granted,
      thread: thread instanceof FleetgateError ? thread.code : String(thread),
      released: await lease.release(),
      left: await pod.leave(),
    });
  },
};
