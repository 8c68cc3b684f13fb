import assert from "node:assert/strict";
import { test } from "node:test";
import { randomNumbers } from "../js/generate-text.mjs";
import { WordTable } from "../js/word-table.mjs";

for (const seed of [1, 2, 3, 4]) {
  test(`a table holds what a Map would, for words from seed ${seed}`, () => {
    const random = randomNumbers(seed);
    const table = new WordTable();
    const map = new Map();
    for (let n = 0; n < 150_000; n += 1) {
      const word = Math.floor(random() * 20_000).toString(36);
      table.entry(word).count += 1;
      map.set(word, (map.get(word) ?? 0) + 1);
    }
    assert.equal(table.size, map.size);
    for (const { word, count } of table.entries()) assert.equal(count, map.get(word));
  });
}
