import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../js/concordance.mjs";
import { kinds } from "../js/generate-text.mjs";

for (const [name, generate] of Object.entries(kinds)) {
  test(`a generated text of the kind ${name} is always the same`, () => {
    assert.equal(generate(5_000), generate(5_000));
  });

  test(`a generated text of the kind ${name} has the number of words that was asked for`, () => {
    for (const words of [1, 10, 12_345]) {
      const entries = countWords(generate(words)).entries();
      assert.equal(
        entries.reduce((sum, { count }) => sum + count, 0),
        words,
      );
    }
  });
}
