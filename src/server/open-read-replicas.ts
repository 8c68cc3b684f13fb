import type { Logger } from "pino";
import { replicasOf } from "#db/connection-target.ts";
import type { Db } from "#db/db.ts";
import { openPostgres } from "#db/postgres.ts";
import { type ReadReplicas, readReplicas } from "#db/read-replicas.ts";
import { type KindOfWork, type TimeLimits, timeLimits } from "#db/time-limits.ts";

/**
 * A read that a replica does not answer is repeated by the primary, so it waits less: the longest statement of a page
 * took 2 s when measured.
 */
const limits: Readonly<Record<KindOfWork, TimeLimits>> = {
  ...timeLimits,
  call: { ...timeLimits.call, statementMs: 10_000, answerMs: 12_000 },
};

const connectMs = 2_000;

/** Opens the replicas that the configuration names. The server starts without those that do not answer. */
export function openReadReplicas(
  { databaseReadUrl }: { readonly databaseReadUrl?: string | undefined },
  primary: Db,
  logger: Logger,
): ReadReplicas {
  const named = databaseReadUrl === undefined ? [] : replicasOf(databaseReadUrl);
  return readReplicas({
    primary,
    replicas: named.map(({ place, url }) => ({
      place,
      db: openPostgres({ url, limits, connectMs, applicationName: "grange reads" }),
    })),
    onChange({ place, standing }) {
      if (standing.kind === "unusable")
        logger.warn(
          { replica: place, problem: standing.problem },
          "a read replica cannot be used; the primary answers instead",
        );
      else logger.info({ replica: place }, "a read replica is used");
    },
  });
}
