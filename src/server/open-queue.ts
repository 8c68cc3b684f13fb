import type { Logger } from "pino";
import type { OutputTrees } from "#actions/output-trees.ts";
import type { CacheUse } from "#caches/cache-use.ts";
import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { Db } from "#db/db.ts";
import { openExecutionQueue } from "#execution/open-execution-queue.ts";
import type { CommitInputReader } from "#graphs/commit-inputs.ts";
import { askingNotes } from "#invocations/asking-notes.ts";
import { operationService } from "#invocations/operation-service.ts";
import { sizeClassAnalyzer } from "#size-classes/analyzer.ts";
import { learning } from "#size-classes/learning.ts";
import { offeredClasses } from "#size-classes/offered-classes.ts";
import { settingsView } from "#size-classes/settings-view.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { ServerConfig } from "./config.ts";
import type { Keep } from "./keep-services.ts";
import { queueHooks } from "./queue-hooks.ts";

/** Opens the execution queue, with the choice of size classes and the notifications for clients. */
export async function openQueue(parts: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idle: IdleState;
  readonly treesOf: (project: string) => OutputTrees;
  readonly inputs: CommitInputReader;
  readonly scaling: ServerConfig["scaling"];
  readonly cacheUse: CacheUse;
  readonly tracing: Tracing | undefined;
  readonly keep: Keep;
}) {
  const { db, clock, logger, idle, treesOf, inputs, keep } = parts;
  const { startDelayMs } = parts.scaling;
  const offers = keep(offeredClasses({ db, clock, logger, startDelayMs }));
  const settings = keep(await settingsView(db, logger));
  const observations = keep(learning({ db, logger, offers, idle }));
  const queue = keep(
    await openExecutionQueue({
      db,
      clock,
      logger,
      idle,
      hooks: queueHooks(
        treesOf,
        () => observations.soon(),
        () => inputs.doubt(),
        parts.tracing,
      ),
      analyzer: sizeClassAnalyzer({
        db,
        clock,
        logger,
        offers,
        settings: () => settings.current(),
      }),
    }),
  );
  const operations = keep(await operationService({ db, queue, clock, logger }));
  const notes = keep(
    askingNotes({
      db,
      clock,
      logger,
      countLookup: (project, isHit) => parts.cacheUse.count(project, "actions", isHit),
    }),
  );
  return { queue, operations, notes };
}
