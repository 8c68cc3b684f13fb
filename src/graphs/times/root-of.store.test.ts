import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { rootOf } from "./root-of.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

async function submit(jobs: readonly string[]) {
  const text = ["version: 1", "jobs:", ...jobs, `# ${randomUUID()}`].join("\n");
  farm.repository.write({ ".grange/jobs.yml": text });
  farm.repository.commit("Change");
  return (await farm.submit()).id;
}

test("the root of a blocked job is beyond all blocked jobs, at any distance", async () => {
  const chain = Array.from(
    { length: 50 },
    (_, n) => `  j${n}: {commands: x, needs: [${n === 0 ? "" : `j${n - 1}`}]}`,
  );
  const id = await submit(chain);

  expect(await rootOf(db, id, "j49")).toBe("j0");
  expect(await rootOf(db, id, "j1")).toBe("j0");
});

test("among several, a job that waits for a person is chosen before one that only has to run", async () => {
  const id = await submit([
    "  a-build: {commands: x}",
    "  approve: {kind: breakpoint}",
    "  b: {commands: x, needs: [approve]}",
    "  ship: {commands: x, needs: [a-build, b]}",
  ]);
  await db.script("update job set state = 'waiting' where name = 'approve'");

  expect(await rootOf(db, id, "ship")).toBe("approve");
});

test("in a graph that is too large to search, it is found along the longest chain", async () => {
  const layers = 4;
  const width = 700;
  const jobs = Array.from({ length: layers }, (_, layer) =>
    Array.from(
      { length: width },
      (_, n) =>
        `  l${layer}-${n}: {commands: x, needs: [${layer === 0 ? "" : `l${layer - 1}-${n}, l${layer - 1}-${(n + 1) % width}`}]}`,
    ),
  ).flat();
  const all = Array.from({ length: width }, (_, n) => `l${layers - 1}-${n}`);
  const id = await submit([...jobs, `  end: {commands: x, needs: [${all.join(", ")}]}`]);

  expect(await rootOf(db, id, "end")).toMatch(/^l0-/);
});
