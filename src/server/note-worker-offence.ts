import type { Logger } from "pino";
import { anyone } from "#access/principal.ts";
import { noteOffence } from "#access/worker-offence.store.ts";
import type { Services } from "./services.ts";

/** A faulty network or a bug may cause one or two offences; three indicate intent. */
const mostOffences = 3;

/** Counts offences, which Grange's own worker never commits, and quarantines a principal that repeats them. */
export function noteWorkerOffence(
  { db, clock, callers }: Pick<Services, "db" | "clock" | "callers">,
  logger: Logger,
) {
  return async (offence: {
    readonly principal: string;
    readonly worker: string;
    readonly what: string;
  }): Promise<void> => {
    // Many callers send no token: one of them must not be able to lock out the others.
    if (offence.principal === anyone) {
      logger.warn(offence, "a worker without a token made a call that no worker of Grange makes");
      return;
    }
    const { count, quarantinedAt } = await noteOffence(db, offence, mostOffences, clock.now());
    logger.warn({ ...offence, count }, "a worker made a call that no worker of Grange makes");
    if (quarantinedAt === null) return;
    logger.error(offence, "it is quarantined: the farm accepts nothing more from it");
    callers.forgetAll();
  };
}
