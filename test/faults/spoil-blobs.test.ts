import { expect, test } from "vitest";
import { spoilBlobs } from "./spoil-blobs.ts";

/** A new one for each run: a failure prints it. */
const seed = Math.floor(Math.random() * 2 ** 31);

test(`of blobs that are corrupt, truncated, swapped or missing none is served, and all graphs end green (seed ${seed})`, async () => {
  const { violations, notGreen, by } = await spoilBlobs({ blobs: 40, seed });

  expect(violations).toEqual([]);
  expect(notGreen).toEqual([]);
  expect(by).toEqual({ corrupt: 10, truncated: 10, missing: 10, swapped: 10 });
});
