import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import { type IdleState, neverIdle, periodMs } from "#core/idle-state.ts";
import type { Service } from "#core/service.ts";
import type { RangeServices } from "./ask-commit.ts";
import { stepSearches } from "./step-search.ts";

/**
 * The pause between two rounds, in ms: hundreds of graphs may end at the same time, and a round for
 * each would be wasteful.
 */
const restMs = 300;
/** Notifications wake the loop; polling is the fallback. */
const pollMs = 3_000;

/** Continues searches whenever graphs have changed, until it is stopped. Several servers may do so. */
export async function startSearchLoop(
  services: RangeServices & { readonly logger: Logger; readonly idle?: IdleState | undefined },
): Promise<Service> {
  const idle = services.idle ?? neverIdle;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let working: Promise<void> | undefined;
  let isNew = false;

  /** Schedules the next step, unless an earlier one is scheduled. */
  const later = (ms: number) => {
    const at = Date.now() + ms;
    if (isStopped || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      working = work();
    }, ms);
    timer.unref();
  };
  const work = async () => {
    try {
      await stepSearches(services);
    } catch (reason) {
      services.logger.warn(
        { reason: messageOf(reason) },
        "a search could not continue; trying again",
      );
    }
    working = undefined;
    later(isNew ? restMs : periodMs(idle, pollMs));
    isNew = false;
  };
  const heard = () => {
    if (working === undefined) later(restMs);
    else isNew = true;
  };

  const listening = await services.db.listen("grange_graph", heard);
  const busy = idle.onBusy(heard);
  later(0);
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      busy.stop();
      await listening.stop();
      await working;
    },
  };
}
