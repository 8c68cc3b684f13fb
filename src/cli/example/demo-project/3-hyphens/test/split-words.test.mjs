import assert from "node:assert/strict";
import { test } from "node:test";
import { splitWords } from "../js/split-words.mjs";

test("words are in small letters, without the signs around them", () => {
  assert.deepEqual(splitWords('"Ask," she said.'), ["ask", "she", "said"]);
});

test("an apostrophe between letters belongs to the word, a quote around it does not", () => {
  assert.deepEqual(splitWords("don't say 'never'"), ["don't", "say", "never"]);
});

test("a hyphen between letters belongs to the word", () => {
  assert.deepEqual(splitWords("a well-known harbour -"), ["a", "well-known", "harbour"]);
});

test("a dash of two hyphens stands between words", () => {
  assert.deepEqual(splitWords("the stove--twice"), ["the", "stove", "twice"]);
  assert.deepEqual(splitWords("a time -- and"), ["a", "time", "and"]);
});

test("a line without letters has no words", () => {
  assert.deepEqual(splitWords(" --- !? "), []);
});
