import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../js/concordance.mjs";

test("each word has its count and its lines", () => {
  const entries = countWords("fish and ice\nice\n\nIce, ice").entries();
  assert.deepEqual(entries, [
    { word: "and", count: 1, lines: [1] },
    { word: "fish", count: 1, lines: [1] },
    { word: "ice", count: 4, lines: [1, 2, 4] },
  ]);
});

test("an empty text has no words", () => {
  assert.deepEqual(countWords("").entries(), []);
});
