import type { Logger } from "pino";
import type { FarmKey } from "#access/farm-key.ts";
import { adoptResults } from "#actions/adopt-results.ts";
import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";

/** Signs results that are older than the farm's signatures, once. */
export async function signOldResults(
  db: Db,
  seals: Parameters<typeof adoptResults>[1],
  farmKey: FarmKey,
  clock: Clock,
  logger: Logger,
): Promise<void> {
  const end = await adoptResults(db, seals, clock.now());
  switch (end.kind) {
    case "adopted":
      if (end.results > 0)
        logger.info(end, "results that are older than the signatures of this farm are signed now");
      return;
    case "done before":
      if (end.keyId !== undefined && !farmKey.knows(end.keyId))
        logger.warn(
          { first: end.keyId, ours: farmKey.id },
          "this server signs with another key than the farm's first one: give all servers of a farm the same key (GRANGE_FARM_KEY), or each executes again what the others have results of",
        );
      return;
    case "refused":
      logger.error(
        "unsigned results were not signed, because the farm has signed its old results before; they cannot be used",
      );
  }
}
