import { expect, test } from "vitest";
import { askerOf, isFound, titleOf } from "./show-invocation.ts";

const build = {
  command: "test",
  patterns: ["//lib/...", "-//lib/slow"],
  user: "ada",
  host: "laptop",
  repository: "example",
  branch: "main",
  commit: "ab12cd",
  exitCode: null,
  exitName: null,
};
const tool = { name: "bazel", version: "7.7.1" };
const told = { tool, build, id: "i-1", project: "default", principal: "ci" };

test("a tool with build events is shown by its command line, others by their name", () => {
  expect(titleOf(told)).toBe("bazel test //lib/... -//lib/slow");
  expect(titleOf({ tool, build: null })).toBe("bazel");
  expect(titleOf({ tool: { name: "", version: "" }, build: null })).toBe("a build tool");
});

test("the requester is the person, or else the principal of the token", () => {
  expect(askerOf(told)).toBe("ada@laptop");
  expect(askerOf({ ...told, build: { ...build, host: "" } })).toBe("ada");
  expect(askerOf({ ...told, build: { ...build, user: "" } })).toBe("ci");
  expect(askerOf({ ...told, build: null })).toBe("ci");
});

test.each(["LAPTOP", "//lib/slow", " ab12 ", "i-1", ""])("%j is found", (text) => {
  expect(isFound(told, text)).toBe(true);
});

test("hidden text is not found", () => {
  expect(isFound(told, "nothing")).toBe(false);
});
