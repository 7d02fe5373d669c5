import { LeaseLostError, type LossReason } from "../errors.ts";

/** A lease in use. It ends once: by the first of `end` and `lose`. */
export interface Hold {
  readonly id: string | null;
  /** Fires once if it is lost, with a LeaseLostError. */
  readonly signal: AbortSignal;
  /** Whether it is lost, by the clock of this moment. */
  readonly lost: boolean;
  /** From now on it cannot be lost; `work`, which must not reject, ends it at the coordinator. */
  end<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | "lost">;
  lose(reason: LossReason): void;
}

/** What a hold needs of its pod. */
export interface HoldKeeper {
  /** Judges deadlines now; may call the hold's own `lose`. */
  check(): void;
  /** It has ended, one way or another. */
  ended(): void;
}

/** Makes the hold of a lease; a null id is a degraded one. */
export function createHold(id: string | null, keeper: HoldKeeper): Hold {
  const controller = new AbortController();
  let ending = false;
  return {
    id,
    signal: controller.signal,
    get lost() {
      keeper.check();
      return controller.signal.aborted;
    },
    end: async (work) => {
      keeper.check();
      if (controller.signal.aborted) return "lost";
      ending = true;
      try {
        return await work();
      } finally {
        keeper.ended();
      }
    },
    lose: (reason) => {
      if (ending || controller.signal.aborted) return;
      controller.abort(new LeaseLostError(id, reason));
      keeper.ended();
    },
  };
}
