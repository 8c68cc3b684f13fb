import { afterAll, describe, expect, test } from "vitest";
import { allTargets } from "./all-targets.ts";
import { fuzz, inputsOf } from "./fuzz.ts";

/** In all more than 100,000 inputs. The same ones each time: `npm run show -- security --long` tries others. */
const inputsOfEach = 3_200;

const targets = await allTargets();
afterAll(async () => {
  for (const target of targets) await target.end?.();
});

test("more than 100,000 inputs are tried", () => {
  const all = targets.reduce((sum, target) => sum + inputsOf(target, inputsOfEach), 0);

  expect(all).toBeGreaterThan(100_000);
});

describe.each(targets)("$name", (target) => {
  test("refuses or reads whatever it is given", async () => {
    const { crashes, outcomes, accepted } = await fuzz(target, 1, inputsOfEach);

    expect(crashes).toEqual([]);
    // Otherwise the inputs would reach no further than the first check.
    expect(accepted).toBeGreaterThan(0);
    expect(outcomes).toBeGreaterThan(1);
  });
});
