import { afterAll, beforeAll, expect, test } from "vitest";
import { Overview } from "#api/overview.ts";
import { aPrivateFarm } from "./private-farm.fixture.ts";

let farm: Awaited<ReturnType<typeof aPrivateFarm>>;
beforeAll(async () => {
  farm = await aPrivateFarm();
});
afterAll(() => farm?.stop());

async function overviewFor(token: string): Promise<Overview> {
  const response = await fetch(new URL("/api/v1/overview", farm.server.url), {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  return Overview.parse(await response.json());
}

test("a reader of one repository sees its graphs, and nothing of the farm or of others", async () => {
  const { graphs, farm: ofFarm } = await overviewFor(farm.token);

  expect(graphs.map(({ id }) => id)).toEqual([farm.ownGraph]);
  expect(ofFarm).toBeNull();
});

test("who may read the farm sees all graphs, and how busy it is", async () => {
  const { graphs, farm: ofFarm } = await overviewFor(farm.root);

  expect(graphs.map(({ id }) => id)).toEqual([farm.ownGraph, farm.theirs.graph]);
  // The worker that ended a job for the fixture.
  expect(ofFarm).toMatchObject({ workers: 1, slots: 1, busySlots: 0, week: { requested: 0 } });
  expect(ofFarm?.queued).toBeGreaterThan(0);
});
