import assert from "node:assert/strict";
import { test } from "node:test";
import { asJson } from "../js/formats/json.mjs";

test("JSON has the title and all that is known of each word", () => {
  const words = [{ word: "gull", count: 1, lines: [2] }];
  assert.deepEqual(JSON.parse(asJson("Words", words)), { title: "Words", words });
});
