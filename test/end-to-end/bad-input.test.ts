import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { badInputs, tryBadInput } from "./bad-input-cases.ts";

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({ workers: 0 });
});
afterAll(() => farm.stop());

// Some start a farm of their own, PostgreSQL and all, which alone takes ten seconds on a machine that is busy.
test.for(badInputs)("$name is told clearly, with a way out", async (bad, context) => {
  if (bad.need !== undefined) skipWithout(context, bad.need);

  const { code, said, missing } = await tryBadInput(bad, farm);

  expect({ missing, said }).toEqual({ missing: [], said });
  expect(code).toBeGreaterThan(0);
  // A stack trace is for us, not for them.
  expect(said).not.toMatch(/^\s+at .*\.[jt]s:\d+/m);
});

test("after all of it the farm still answers, and holds no half-made graph", async () => {
  const graphs = await fetch(`${farm.url}/api/v1/graphs`);

  expect(await graphs.json()).toEqual([]);
});
