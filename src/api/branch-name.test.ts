import { expect, test } from "vitest";
import { BranchName } from "./branch-name.ts";

test.each(["", "main", "release/1.2", "try/alice@home", "ÜBER-ast", "v1-0.x"])(
  "%j is a branch's name",
  (name) => {
    expect(BranchName.safeParse(name).success).toBe(true);
  },
);

test.each([
  "refs/heads/release",
  "heads/release",
  "*",
  "rel*",
  " release",
  "release\n",
  "a..b",
  "a//b",
  "/a",
  "a/",
  "-a",
  "a~1",
  "a@{1}",
])("%j is none: it would be another branch than the one that is protected", (name) => {
  expect(BranchName.safeParse(name).success).toBe(false);
});
