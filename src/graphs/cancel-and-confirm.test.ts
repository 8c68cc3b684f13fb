import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { cancelAndConfirm } from "./cancel-and-confirm.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const enoughMs = 600_000;

async function leasedJob() {
  farm.repository.write({
    ".grange/jobs.yml": `version: 1\njobs:\n  a: {commands: "x # ${randomUUID()}"}\n`,
  });
  farm.repository.commit("Change");
  const { id } = await farm.submit();
  await farm.prepare();
  const [leased] = await farm.claim(10_000);
  if (leased === undefined) throw new Error("nothing waits");
  return { id, lease: leased.lease };
}

test("a cancellation that the worker confirms leaves no uncertain execution", async () => {
  const { id, lease } = await leasedJob();

  const cancelled = cancelAndConfirm(db, farm.queue, everybody, id, undefined, enoughMs);
  expect(await farm.cancellations([], enoughMs)).toMatchObject([lease]);
  const waiting = farm.cancellations([lease], 0);

  expect(await cancelled).toEqual([]);
  expect(await waiting).toEqual([]);
});

test("an unconfirmed cancellation names the job and the worker", async () => {
  const { id } = await leasedJob();

  expect(await cancelAndConfirm(db, farm.queue, everybody, id, ["a"], 50)).toEqual([
    { job: "a", worker: "w" },
  ]);
});
