import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { wholeGraph } from "./graph-page.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

// The simulation found it: the graph counted one of the two jobs twice, and stayed `running` for ever.
test("a graph ends when one of its jobs ended in the transaction that put another back into the queue", async () => {
  farm.repository.write({
    ".grange/jobs.yml": "version: 1\njobs:\n  a: {commands: 'false'}\n  b: {commands: 'exit 1'}\n",
  });
  farm.repository.commit("Two jobs");
  const { id } = await farm.submit();
  await farm.prepare();
  const [first, second] = await farm.claim(0);
  if (first === undefined || second === undefined) throw new Error("two jobs were to be claimed");
  for (const { lease } of [first, second]) await farm.queue.started(lease, new Date());

  // Both are reported in one turn of the event loop, so they share a transaction.
  await Promise.all([
    farm.queue.finish({ lease: first.lease, outcome: "failed", exitCode: 1 }),
    farm.queue.finish({ lease: second.lease, outcome: "infrastructure_error" }),
  ]);
  await farm.work(() => ({ exitCode: 1 }));

  const graph = await wholeGraph(db, id);
  expect(graph?.jobList.map(({ state }) => state)).toEqual(["failed", "failed"]);
  expect(graph?.state).toBe("failed");
});
