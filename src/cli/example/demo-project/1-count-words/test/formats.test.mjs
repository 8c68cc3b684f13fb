import assert from "node:assert/strict";
import { test } from "node:test";
import { asHtml } from "../js/formats/html.mjs";
import { asText } from "../js/formats/text.mjs";

const entries = [
  { word: "a", count: 12, lines: [1, 3] },
  { word: "gull", count: 1, lines: [2] },
];

test("text has one aligned line for each word", () => {
  assert.equal(asText("Words", entries), "Words\n\na       12  1 3\ngull     1  2\n");
});

test("HTML has one row for each word, and takes nothing for a tag", () => {
  const page = asHtml("a < b", entries);
  assert.match(page, /<h1>a &lt; b<\/h1>/);
  assert.match(page, /<tr><td>gull<\/td><td>1<\/td><td>2<\/td><\/tr>/);
});
