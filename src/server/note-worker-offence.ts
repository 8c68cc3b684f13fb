import type { Logger } from "pino";
import { anyone } from "#access/principal.ts";
import { noteOffence } from "#access/worker-offence.store.ts";
import type { Services } from "./services.ts";

/** A wire that garbles, or a bug, may do it once; who does it three times means it. */
const mostOffences = 3;

/** Counts what no worker of ours does, and quarantines who does it again and again. */
export function noteWorkerOffence(
  { db, clock, callers }: Pick<Services, "db" | "clock" | "callers">,
  logger: Logger,
) {
  return async (offence: {
    readonly principal: string;
    readonly worker: string;
    readonly what: string;
  }): Promise<void> => {
    // Who sends no token is many: one of them must not be able to shut the others out.
    if (offence.principal === anyone) {
      logger.warn(offence, "a worker without a token did what none of ours does");
      return;
    }
    const { count, quarantinedAt } = await noteOffence(db, offence, mostOffences, clock.now());
    logger.warn({ ...offence, count }, "a worker did what none of ours does");
    if (quarantinedAt === null) return;
    logger.error(offence, "it is quarantined: nothing more is taken from it");
    callers.forgetAll();
  };
}
