import assert from "node:assert/strict";
import { test } from "node:test";
import { WordTable } from "../js/word-table.mjs";

test("a word's entry is the same each time it is asked for", () => {
  const table = new WordTable();
  table.entry("rope").count += 1;
  table.entry("rope").count += 1;
  assert.equal(table.entry("rope").count, 2);
  assert.equal(table.size, 1);
});

test("entries are sorted by their words", () => {
  const table = new WordTable();
  for (const word of ["salt", "bread", "oven"]) table.entry(word);
  assert.deepEqual(
    table.entries().map(({ word }) => word),
    ["bread", "oven", "salt"],
  );
});

test("nothing is lost when the table grows", () => {
  const table = new WordTable();
  for (let n = 0; n < 5_000; n += 1) table.entry(`word${n}`).count = n;
  for (let n = 0; n < 5_000; n += 1) assert.equal(table.entry(`word${n}`).count, n);
  assert.equal(table.size, 5_000);
});
