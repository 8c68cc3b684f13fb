import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords, mostFrequent } from "../js/concordance.mjs";

test("the most frequent words come first, and no more than were asked for", () => {
  const entries = countWords("salt and flour and water and salt").entries();
  assert.deepEqual(
    mostFrequent(entries, 3).map(({ word }) => word),
    ["and", "salt", "flour"],
  );
});
