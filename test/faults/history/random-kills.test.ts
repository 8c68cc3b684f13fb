import { expect, test } from "vitest";
import { killAtRandom } from "./random-kills.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(`with random kills under load, clients see each promise fulfilled (seed ${seed})`, async () => {
  const { violations, graphs } = await killAtRandom({ kills: 5, graphs: 8, seed });

  expect(violations).toEqual([]);
  expect(graphs).toBe(8);
});
