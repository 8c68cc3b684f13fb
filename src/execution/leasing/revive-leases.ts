import type { Tx } from "#db/db.ts";
import { together } from "#db/together.ts";
import { reviveLostLeases } from "../finishing/end-leases.store.ts";
import { notifyExecutions } from "../notify.store.ts";
import type { AfterCommit, QueueHooks } from "../queue-hooks.ts";
import type { Heartbeat, HeartbeatAnswer } from "./heartbeat.ts";
import { leaseKey } from "./lease.ts";

/** A heartbeat, with its answer before lost leases were looked for. */
interface AnsweredHeartbeat {
  readonly beat: Heartbeat;
  readonly answer: HeartbeatAnswer;
}

/**
 * Restores leases of workers that were silent for too long and still name them, if no other worker got the executions.
 * Returns the answers without those leases.
 *
 * It uses a separate transaction, because it locks graphs, which must be locked before workers.
 */
export async function reviveLeases(
  tx: Tx,
  answered: readonly AnsweredHeartbeat[],
  until: Date,
  hooks: Pick<QueueHooks, "onProgress">,
): Promise<{ readonly answers: readonly HeartbeatAnswer[]; readonly after: AfterCommit }> {
  const named = answered.flatMap(({ beat, answer }) =>
    // A process that does not hold its name has no leases under it.
    answer.isUnknown ? [] : answer.lost.map((lease) => ({ lease, by: beat.worker })),
  );
  const revived = await reviveLostLeases(tx, named, until);
  if (revived.length === 0) return { answers: answered.map(({ answer }) => answer), after() {} };
  const started = revived.filter(({ hasStarted }) => hasStarted);
  const [after] = await together([
    started.length === 0
      ? undefined
      : hooks.onProgress?.(
          tx,
          started.map(({ executionId: id, attempt }) => ({ id, kind: "started", attempt })),
        ),
    notifyExecutions(
      tx,
      revived.map(({ executionId }) => executionId),
    ),
  ]);
  const held = new Set(revived.map((each) => `${leaseKey(each)} ${each.worker}`));
  return {
    answers: answered.map(({ beat, answer }) => ({
      ...answer,
      lost: answer.lost.filter((lease) => !held.has(`${leaseKey(lease)} ${beat.worker.name}`)),
    })),
    after: after ?? (() => {}),
  };
}
