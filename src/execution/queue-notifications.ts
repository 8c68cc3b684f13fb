import type { Db } from "#db/db.ts";
import type { ClaimDispatcher } from "./claiming/claim-dispatcher.ts";
import { drainChannel } from "./claiming/drain.store.ts";
import { ExecutionId } from "./execution.ts";
import type { ExecutionWatch } from "./execution-watch.ts";
import type { CancellationService } from "./finishing/cancellation-service.ts";
import type { LeaseEndings } from "./finishing/lease-endings.ts";
import type { LogService } from "./logs/log-service.ts";
import {
  cancellationChannel,
  executionChannel,
  logChannel,
  queueChannel,
  silentWorkerChannel,
} from "./notify.store.ts";

/** The parts of a server that get the notifications of all servers of a database. */
interface NotifiedParts {
  /** The name under which this server reports silent workers. */
  readonly self: string;
  readonly dispatcher: Pick<ClaimDispatcher, "wake" | "cancelWaiting" | "dismiss">;
  readonly cancellations: Pick<CancellationService, "changed">;
  readonly watch: Pick<ExecutionWatch, "changed" | "changedAll">;
  readonly endings: Pick<LeaseEndings, "isEnding">;
  readonly logs: Pick<LogService, "grew">;
}

/** Listens to notifications of the queue. Returns the function that ends it. */
export async function listenToQueue(db: Db, parts: NotifiedParts): Promise<() => Promise<void>> {
  const { self, dispatcher, cancellations, watch, endings, logs } = parts;
  const listeners = await Promise.all([
    db.listen(queueChannel, (payload) => dispatcher.wake(payload)),
    db.listen(drainChannel, () => dispatcher.cancelWaiting()),
    db.listen(silentWorkerChannel, (payload) => {
      const [by, ...instanceIds] = payload.split(",");
      // Claims that arrived after this server's own notification are from workers that are alive again.
      if (by !== self) dispatcher.dismiss(new Set(instanceIds));
    }),
    db.listen(cancellationChannel, (payload) => cancellations.changed(payload)),
    db.listen(executionChannel, (payload) => {
      if (payload === "") watch.changedAll();
      else {
        const ids = payload.split(",") as ExecutionId[];
        watch.changed(ids.filter((id) => !endings.isEnding(id)));
      }
    }),
    db.listen(logChannel, (payload) => {
      const id = ExecutionId.safeParse(payload);
      logs.grew(id.success ? id.data : undefined);
    }),
  ]);
  return async () => {
    await Promise.all(listeners.map((each) => each.stop()));
  };
}
