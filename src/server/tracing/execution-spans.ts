import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import { traceparentOf } from "#core/span-place.ts";
import type { Tx } from "#db/db.ts";
import { spansOfExecutions } from "#execution/execution-span.store.ts";
import type { LeasedExecution } from "#execution/leasing/lease.ts";
import type { WorkSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { nowMs } from "#tracing/active-span.ts";
import { placeBelow, type Tracing } from "#tracing/tracing.ts";

type Work = MessageInitShape<typeof WorkSchema>;

/** The traces of executions that workers claim. */
export interface ExecutionSpans {
  /** Called when the queue has handed out executions; what follows until the answer is their span "claim". */
  claimed(leased: readonly LeasedExecution[]): {
    /** Tells the worker the traces of its work. Never throws: work is more important than its trace. */
    withTraceparents(work: readonly Work[]): Promise<Work[]>;
  };
}

export function executionSpans(
  db: Tx,
  tracing: Pick<Tracing, "record">,
  logger: Logger,
): ExecutionSpans {
  return {
    claimed(leased) {
      const startMs = nowMs();
      const ids = leased.map(({ lease }) => lease.executionId);
      const reading =
        ids.length === 0
          ? Promise.resolve([])
          : spansOfExecutions(db, ids).catch((reason: unknown) => {
              logger.warn({ reason: messageOf(reason) }, "the traces of work could not be read");
              return [];
            });
      return {
        async withTraceparents(work) {
          const spans = new Map((await reading).map((span) => [String(span.id), span]));
          const endMs = nowMs();
          return work.map((each) => {
            const span = spans.get(each.lease?.executionId ?? "");
            if (span === undefined) return each;
            tracing.record({ place: placeBelow(span), name: "claim", startMs, endMs });
            return { ...each, traceparent: traceparentOf(span) };
          });
        },
      };
    },
  };
}
