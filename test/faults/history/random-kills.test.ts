import { expect, test } from "vitest";
import { killAtRandom } from "./random-kills.ts";

/** A new one each time: what it was is in the failure. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(`whatever is killed at random under load, clients see each promise kept (seed ${seed})`, async () => {
  const { violations, graphs } = await killAtRandom({ kills: 6, graphs: 8, seed });

  expect(violations).toEqual([]);
  expect(graphs).toBe(8);
});
