import { afterAll, beforeAll, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { badInputs, tryBadInput } from "./bad-input-cases.ts";

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({ workers: 0 });
});
afterAll(() => farm.stop());

// Some cases start a farm with PostgreSQL, which alone takes ten seconds on a busy machine.
test.for(badInputs)("$name causes a clear error with a remedy", async (bad, context) => {
  if (bad.need !== undefined) skipWithout(context, bad.need);

  const { code, said, missing } = await tryBadInput(bad, farm);

  expect({ missing, said }).toEqual({ missing: [], said });
  expect(code).toBeGreaterThan(0);
  // Users must not see a stack trace.
  expect(said).not.toMatch(/^\s+at .*\.[jt]s:\d+/m);
});

test("after all cases the farm still answers, and has no incomplete graph", async () => {
  const graphs = await fetch(`${farm.url}/api/v1/graphs`);

  expect(await graphs.json()).toEqual([]);
});
