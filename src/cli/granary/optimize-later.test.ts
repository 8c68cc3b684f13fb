import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { optimizeLaterFlag } from "./optimize-later.ts";

// An engine that does not know the flag prints an error on each daemon's standard error.
test("the flag is set exactly if this Node's engine knows it", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });

  expect(optimizeLaterFlag(process.versions.node) !== undefined).toBe(
    known.includes("--interrupt-budget ("),
  );
});

test.each([
  { version: "20.12.0", expected: "--interrupt-budget=1000000" },
  { version: "22.23.3", expected: undefined },
  { version: "24.0.0", expected: undefined },
])("Node $version gets the flag $expected", ({ version, expected }) => {
  expect(optimizeLaterFlag(version)).toBe(expected);
});
