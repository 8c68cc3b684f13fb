import { afterAll, expect, test } from "vitest";
import { outputTrees } from "#actions/output-trees.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { actionDigest, executionId } from "#execution/execution.fixture.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import { anInvocation, anOperation, atSecond } from "#invocations/pages/invocation-rows.fixture.ts";
import { listActions } from "#invocations/pages/list-actions.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { queueHooks } from "./queue-hooks.ts";

const db = await freshDb();
const trees = outputTrees(memoryBlobStore());
const hooks = queueHooks(() => trees);
afterAll(() => db.close());

test("what became of an invocation's actions is known when their executions are long deleted", async () => {
  const id = executionId();
  await anInvocation(db, "i");
  await anOperation(db, "i", { executionId: id });
  const finished: FinishedExecution = {
    id,
    project: "default",
    domain: protectedDomain,
    actionDigest: actionDigest("a"),
    invocation: "i",
    doNotCache: false,
    attempt: 2,
    worker: "barn-1",
    queuedAt: atSecond(0),
    leasedAt: atSecond(1),
    startedAt: atSecond(2),
    finishedAt: atSecond(9),
    outcome: "failed",
    exitCode: 3,
    result: undefined,
    message: "",
    missingInputs: [],
    usage: undefined,
  };

  await db.transaction(async (tx) => hooks.onFinished?.(tx, [finished]));

  const query = { state: undefined, text: undefined, after: undefined, limit: 10 };
  const { actions } = await listActions(db, { project: "default", id: "i", ...query });
  expect(actions).toMatchObject([
    { state: "failed", outcome: "failed", exitCode: 3, worker: "barn-1", executionId: id },
  ]);
});
