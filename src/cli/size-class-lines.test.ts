import { expect, test } from "vitest";
import type { SizeClasses, SizeClassNow } from "#api/size-class.ts";
import { classesLines, costText } from "./size-class-lines.ts";

const saved = { amount: 2, executions: 1, unknown: 1 };
const aClass = (changes: Partial<SizeClassNow> = {}): SizeClassNow => ({
  sizeClass: 1,
  isDeclared: false,
  workers: 1,
  draining: 0,
  silent: 0,
  slots: 2,
  busy: 0,
  queued: 0,
  expectedWaitMs: 0,
  cpus: 1,
  memoryBytes: 256 * 2 ** 20,
  price: 1,
  runs: 0,
  executions: 0,
  share: null,
  busySeconds: 0,
  cost: 0,
  saved: { amount: 0, executions: 0, unknown: 0 },
  ...changes,
});

test("classes are told in the units in which workers are started, and one thing as one", () => {
  const classes: SizeClasses = {
    lately: { since: "2030-01-01T00:00:00.000Z", executions: 1, isCut: false },
    platforms: [{ name: "OSFamily=linux", platform: {}, classes: [aClass()], saved }],
    saved,
  };

  const lines = classesLines(classes);

  expect(lines[2]).toContain("256 MiB");
  expect(lines[2]).not.toContain("0 ms");
  expect(lines.at(-1)).toContain("Counted: 1 execution since");
  expect(lines.at(-1)).toContain(
    "1 execution; 1 is not counted: it is not known how long it takes there",
  );
});

test.each([
  [0, "0"],
  [9.998, "10.0"],
  [9.99, "9.99"],
  [99.96, "100"],
  [-12.34, "-12.3"],
])("a cost of %d is written %s", (cost, text) => {
  expect(costText(cost)).toBe(text);
});
