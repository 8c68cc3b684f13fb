import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import type { GraphId } from "../graph-id.ts";
import { farmOfKinds } from "../kinds/farm-of-kinds.fixture.ts";
import { setGraphPriority } from "../set-graph-priority.ts";
import { chunkProgress } from "./chunk-progress.store.ts";
import { type HeldBatch, PretendedWorker, pool } from "./workers-of-chunks.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const names = (count: number) => Array.from({ length: count }, (_, n) => `item-${n}`);

function chunked(items: readonly string[], chunks = "", more = ""): string {
  return `  c:\n    commands: "run # ${randomUUID()}"\n    inputs: []\n    platform: {pool: ${pool}}\n    chunks: {items: [${items.join(", ")}]${chunks}}\n${more}`;
}

async function workers(count: number): Promise<PretendedWorker[]> {
  const all = Array.from(
    { length: count },
    (_, n) => new PretendedWorker(farm, `chunk-worker-${n}`),
  );
  for (const worker of all) await worker.come();
  return all;
}

type Answer = Parameters<HeldBatch["finish"]>[0];

/** Lets workers take batches and answer, until there are no more; returns the batches that succeeded. */
async function workOff(
  on: readonly PretendedWorker[],
  answer: (items: readonly string[]) => Answer = () => ({}),
): Promise<string[][]> {
  const done: string[][] = [];
  for (;;) {
    await farm.settle();
    const held: HeldBatch[] = [];
    for (const worker of on) {
      const batch = await worker.take();
      if (batch !== undefined) held.push(batch);
    }
    if (held.length === 0) return done;
    for (const batch of held) {
      const said = answer(batch.items) ?? {};
      if (said.fails !== true) done.push([...batch.items]);
      await batch.finish(said);
    }
  }
}

async function stateOf(id: GraphId): Promise<string | undefined> {
  return (await farm.states(id))["c"];
}

describe("a chunked job", () => {
  test("gets its graph's new priority in all batches that wait in the queue", async () => {
    const id = await farm.submitJobs(chunked(names(4), ", min: 2, max: 2"));
    const priorities = () =>
      db.many(
        z.object({ priority: z.number() }),
        sql`select priority from execution where invocation = ${id} and state = 'queued'`,
      );
    expect(await priorities()).toEqual([{ priority: 0 }, { priority: 0 }]);

    const changed = await setGraphPriority(farm.queue, id, { priority: 40 }, everybody);

    expect(changed).toMatchObject({ moved: 2 });
    expect(await priorities()).toEqual([{ priority: -40 }, { priority: -40 }]);
    await cancelGraph(db, farm.queue, everybody, id);
    await farm.settle();
  });

  test("ends when all its items have ended, and then dependent jobs continue", async () => {
    const on = await workers(3);
    const id = await farm.submitJobs(`${chunked(names(20))}  after: {kind: dummy, needs: [c]}`);

    const batches = await workOff(on);

    expect(batches.flat().toSorted()).toEqual(names(20).toSorted());
    expect(batches.length).toBeGreaterThan(3);
    expect(await farm.states(id)).toEqual({ c: "succeeded", after: "succeeded" });
  });

  test("has at most the allowed number of simultaneous batches, and at least the required number", async () => {
    const on = await workers(6);
    const few = await farm.submitJobs(chunked(names(30), ", max: 2"));
    expect((await chunkProgress(db, few, "c"))?.batches).toHaveLength(2);
    await workOff(on);

    const pinned = await farm.submitJobs(
      chunked(names(30), ", min: 9, max: 12").replace(pool, "nowhere"),
    );
    expect((await chunkProgress(db, pinned, "c"))?.batches).toHaveLength(9);
    await cancelGraph(db, farm.queue, everybody, pinned);
    await farm.settle();
  });

  test("processes each item once, while ten machines become one and ten again", async () => {
    const on = await workers(10);
    const id = await farm.submitJobs(chunked(names(200)));
    await farm.settle();
    const done: string[] = [];
    const finish = async (batch: HeldBatch | undefined) => {
      if (batch === undefined) return;
      done.push(...batch.items);
      await batch.finish();
    };

    const held = [];
    for (const worker of on) held.push(await worker.take());
    // Nine stop with unfinished batches; the remaining one continues.
    await finish(held[0]);
    for (let n = 0; n < 3; n++) {
      await farm.settle();
      await finish(await on[0]?.take());
    }
    for (const worker of on.slice(1)) await worker.come();
    // The batches of the lost workers are offered again.
    done.push(...(await workOff(on)).flat());

    expect(done.toSorted()).toEqual(names(200).toSorted());
    expect(await stateOf(id)).toBe("succeeded");
    const progress = await chunkProgress(db, id, "c");
    expect(progress).toMatchObject({ items: 200, done: 200, failed: 0 });
  });

  test("finds the failing item by halving, retries it as often as allowed, and processes the others", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(chunked(names(16), ", max: 1", "    retries: 1\n"));
    let alone = 0;

    const batches = await workOff(on, (items) => {
      if (items.length === 1 && items[0] === "item-5") alone++;
      return { fails: items.includes("item-5") };
    });

    expect(batches.flat().toSorted()).toEqual(
      names(16)
        .filter((name) => name !== "item-5")
        .toSorted(),
    );
    expect(alone).toBeGreaterThan(0);
    expect(await stateOf(id)).toBe("failed");
    const [run] = await farm.runs(id, "c");
    expect(run?.message).toContain("an item failed: item-5");
  });

  test("succeeds when an item that failed once does not fail again", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(chunked(names(8), "", "    retries: 1\n"));
    let failures = 0;

    await workOff(on, () => ({ fails: failures++ === 0 }));

    expect(await stateOf(id)).toBe("succeeded");
  });

  test("without retries fails with the items of the failed batch", async () => {
    const on = await workers(1);
    const id = await farm.submitJobs(chunked(["a", "b"], ", max: 1"));

    await workOff(on, (items) => ({ fails: items.includes("a") }));

    expect(await stateOf(id)).toBe("failed");
  });

  test("takes its items from a list that another job made", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(
      `  list: {commands: "list # ${randomUUID()}", outputs: [list.txt]}\n` +
        chunked([])
          .replace("items: []", "from: {job: list, output: list.txt}")
          .replace("inputs: []", "inputs: []\n    needs: {list: {outputs: []}}"),
    );
    await farm.workAll(() => ({ outputs: { "list.txt": "one\ntwo\n\nthree\n" } }));

    const batches = await workOff(on);

    expect(batches.flat().toSorted()).toEqual(["one", "three", "two"]);
    expect(await stateOf(id)).toBe("succeeded");
  });

  test("merges the outputs of its batches", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(
      `${chunked(["a", "b", "c", "d"], "", "    outputs: [reports]\n")}  use: {commands: "use # ${randomUUID()}", inputs: [], needs: {c: {outputs: reports}}}`,
    );

    await workOff(on, (items) => ({
      outputs: Object.fromEntries(items.map((item) => [`reports/${item}.xml`, item])),
    }));

    expect(await stateOf(id)).toBe("succeeded");
  });

  test("whose batches made different versions of one file fails, and names it", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(
      chunked(["a", "b", "c", "d"], "", "    outputs: [report.txt]\n"),
    );

    await workOff(on, (items) => ({ outputs: { "report.txt": items.join() } }));

    expect(await stateOf(id)).toBe("failed");
    const [run] = await farm.runs(id, "c");
    expect(run?.message).toMatch(/do not fit together: .*report\.txt.* comes from batch/);
  });

  test("learns from the durations of its items, and begins with the long ones", async () => {
    const on = await workers(1);
    const jobs = (n: number) =>
      chunked(["quick", "slow", "usual"], `, max: 1, results: took.json`).replace(
        "run #",
        `${n} #`,
      );
    const said = JSON.stringify({ quick: 0.001, slow: 1e9, usual: 0.1, other: 5 });
    await farm.submitJobs(jobs(1));
    await workOff(on, () => ({ outputs: { "took.json": said } }));

    await farm.submitJobs(jobs(2));
    const [first] = await workOff(on);

    expect(first).not.toContain("quick");
  });

  test("does not execute a batch whose result is known", async () => {
    const on = await workers(1);
    const jobs = chunked(["a", "b", "c"], ", max: 1");
    await farm.submitJobs(jobs);
    await workOff(on);

    const id = await farm.submitJobs(jobs);
    // Other estimates may give other batches; repeated ones have known results.
    const again = await workOff(on);

    expect(await stateOf(id)).toBe("succeeded");
    const progress = await chunkProgress(db, id, "c");
    expect(again.length + (progress?.batches.filter((batch) => batch.cached).length ?? 0)).toBe(
      progress?.batches.length,
    );
  });

  test("releases its workers when it is cancelled", async () => {
    const on = await workers(2);
    const id = await farm.submitJobs(chunked(names(50)));
    const held = await on[0]?.take();

    await cancelGraph(db, farm.queue, everybody, id);
    await farm.settle();

    expect(await stateOf(id)).toBe("cancelled");
    await held?.finish();
    expect(await workOff(on)).toEqual([]);
    expect(await stateOf(id)).toBe("cancelled");
  });
});
