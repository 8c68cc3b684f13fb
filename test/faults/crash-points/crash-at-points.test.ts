import { expect, test } from "vitest";
import { crashAtPoints, somePoints } from "./crash-at-points.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(`killed before or after a commit, an fsync, a rename and a send, the farm keeps each promise (seed ${seed})`, async () => {
  const { violations, crashes } = await crashAtPoints({ points: somePoints(seed), seed });

  expect(violations).toEqual([]);
  expect(crashes).toBe(6);
});
