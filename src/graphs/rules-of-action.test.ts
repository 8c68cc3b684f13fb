import { expect, test } from "vitest";
import { emptyDigest } from "#core/digest.ts";
import { buildAction } from "./build-action.ts";
import { rulesOfAction } from "./rules-of-action.ts";

test("a job without rules carries none; what only says who is retried is none", () => {
  expect(rulesOfAction({ commands: ["make"] })).toBeUndefined();
  expect(rulesOfAction({ commands: ["make"], success: { "exit-codes": [0, 3] } })).toBeUndefined();
});

test("equal rules are one text, whatever order and spelling they have", () => {
  const one = rulesOfAction({
    commands: ["make"],
    failure: { b: { patterns: ["bad"], retry: true }, a: { patterns: ["awry"], fails: false } },
    errors: ["error:"],
  });
  const other = rulesOfAction({
    commands: ["make"],
    errors: ["error:"],
    failure: { a: { patterns: ["awry"], outcomes: [] }, b: { patterns: ["bad"], retry: false } },
  });

  expect(one).toBe(
    '{"errors":["error:"],"failures":{"a":{"patterns":["awry"]},"b":{"patterns":["bad"]}}}',
  );
  expect(other).toBe(one);
});

test("of the lines that show commands, those are named that would fit", () => {
  const rules = rulesOfAction({
    commands: ["make\n./test || echo FAILED", "true"],
    errors: ["FAILED"],
  });

  expect(JSON.parse(rules ?? "")).toEqual({
    errors: ["FAILED"],
    shown: ["  ./test || echo FAILED"],
  });
});

test("other rules make another action, but ask nothing of workers", () => {
  const plain = buildAction({ commands: ["make"] }, emptyDigest);
  const strict = buildAction({ commands: ["make"], success: { patterns: ["ok"] } }, emptyDigest);

  expect(strict.action.digest).not.toEqual(plain.action.digest);
  expect(strict.platform).toEqual(plain.platform);
});
