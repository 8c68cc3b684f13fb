import { expect, test } from "vitest";
import { similarNames } from "./similar-names.ts";

test.each([
  ["mian", ["main", "develop", "v1.0"], ["main"]],
  ["MAIN", ["main"], ["main"]],
  ["login", ["feature/login-page", "main"], ["feature/login-page"]],
  ["v1.1", ["v1.0", "v1.2", "v2.0", "v1.10", "release"], ["v1.0", "v1.2", "v1.10"]],
  ["quite-something-else", ["main"], []],
  ["x", [], []],
])("for %s out of %j: %j", (wanted, names, expected) => {
  expect(similarNames(wanted, names)).toHaveLength(expected.length);
  expect(similarNames(wanted, names)).toEqual(expect.arrayContaining(expected));
});
