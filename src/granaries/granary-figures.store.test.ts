import { afterAll, expect, test } from "vitest";
import { aReport, freshFarmOfGranaries } from "./farm-of-granaries.fixture.ts";
import { granaryFigures } from "./granary-figures.store.ts";

const farm = await freshFarmOfGranaries();
afterAll(() => farm.stop());

test("prefetching is reported by project: how much, how much of it was unused, and how early", async () => {
  const leads = [{ medianMs: 10, leastMs: 1 }, null, { medianMs: 900, leastMs: 2 }];
  for (const lead of leads) await farm.granaries.reportBuild(aReport("early", { lead }), "p");
  await farm.granaries.reportBuild(aReport("never"), "p");

  expect(await granaryFigures(farm.db, new Date(0))).toMatchObject([
    { project: "early", transferredBytes: 120, wastedBytes: 15, leadMs: 10 },
    { project: "never", transferredBytes: 40, wastedBytes: 5, leadMs: null },
  ]);
});
