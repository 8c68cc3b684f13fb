import { expect, test } from "vitest";
import { UnsuitedTools } from "./unsuited-tools.ts";

const minuteMs = 60_000;

test("a tool is left alone after three failures in succession, and tried again after ten minutes", () => {
  let nowMs = 0;
  const tools = new UnsuitedTools(() => nowMs);
  const afterEach = [1, 2, 3].map(() => {
    tools.failed("javac");
    return tools.isUnsuited("javac");
  });
  nowMs = 9 * minuteMs;
  const later = tools.isUnsuited("javac");
  nowMs = 10 * minuteMs;
  const muchLater = tools.isUnsuited("javac");
  // It fails again.
  tools.failed("javac");

  expect({ afterEach, later, muchLater }).toEqual({
    afterEach: [false, false, true],
    later: true,
    muchLater: false,
  });
  expect(tools.isUnsuited("javac")).toBe(true);
  expect(tools.isUnsuited("kotlinc")).toBe(false);
});

test("failures between which a process served an action do not count together", () => {
  const tools = new UnsuitedTools();
  for (const one of ["failed", "failed", "served", "failed", "failed"] as const)
    tools[one]("javac");

  expect(tools.isUnsuited("javac")).toBe(false);
});
