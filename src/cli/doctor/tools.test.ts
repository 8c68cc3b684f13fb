import { expect, test } from "vitest";
import { judgeGit } from "./tools.ts";

test.each([
  ["2.39.5", "ok"],
  ["2.39.4", "ok"],
  ["2.39.3", "warn"],
  ["2.36.0", "warn"],
  ["2.40.1", "warn"],
  ["2.43.4", "ok"],
  ["2.44.0", "warn"],
  ["2.45.0", "ok"],
  ["3.0.0", "ok"],
])("git %s is %s for repositories of strangers", (version, expected) => {
  expect(judgeGit(version).status).toBe(expected);
});
