import { expect, test } from "vitest";
import { emptyDigest } from "#core/digest.ts";
import { buildAction } from "./build-action.ts";
import { rulesOfAction } from "./rules-of-action.ts";

test("a job without rules has no property; retry settings alone are no rules", () => {
  expect(rulesOfAction({ commands: ["make"] })).toBeUndefined();
  expect(rulesOfAction({ commands: ["make"], success: { "exit-codes": [0, 3] } })).toBeUndefined();
});

test("equal rules give one text, for any order and spelling", () => {
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

test("printed command lines that would match are listed", () => {
  const rules = rulesOfAction({
    commands: ["make\n./test || echo FAILED", "true"],
    errors: ["FAILED"],
  });

  expect(JSON.parse(rules ?? "")).toEqual({
    errors: ["FAILED"],
    shown: ["  ./test || echo FAILED"],
  });
});

test("other rules make another action, but do not restrict the workers", () => {
  const plain = buildAction({ commands: ["make"] }, emptyDigest);
  const strict = buildAction({ commands: ["make"], success: { patterns: ["ok"] } }, emptyDigest);

  expect(strict.action.digest).not.toEqual(plain.action.digest);
  expect(strict.platform).toEqual(plain.platform);
});
