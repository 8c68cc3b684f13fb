import fc from "fast-check";
import { expect, test } from "vitest";
import { logStreamName, parseLogStreamName } from "./log-stream-name.ts";

test("a name is read as it was made, whatever the project", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("", "tools", "team/a", "logs", "logs/logs"),
      fc.uuid(),
      fc.integer({ min: 1, max: 999_999_999 }),
      fc.constantFrom("stdout" as const, "stderr" as const),
      (instanceName, executionId, attempt, stream) => {
        const name = logStreamName(instanceName, { executionId, attempt, stream });
        const project = instanceName === "" ? "default" : instanceName;
        expect(parseLogStreamName(name)).toEqual({ project, executionId, attempt, stream });
      },
    ),
  );
});

test.each([
  "",
  "logs",
  `blobs/${"a".repeat(64)}/5`,
  "logs/5f0c7f5e-0000-4000-8000-000000000000/1/stdin",
  "logs/5f0c7f5e-0000-4000-8000-000000000000/-1/stdout",
  "logs/5f0c7f5e-0000-4000-8000-000000000000/1/stdout/",
  "logs/../5f0c7f5e/1/stdout",
])("%j names no log", (name) => {
  expect(parseLogStreamName(name)).toBeUndefined();
});

test("an instance that can be no project is refused", () => {
  const name = "a/../b/logs/5f0c7f5e-0000-4000-8000-000000000000/1/stdout";
  expect(() => parseLogStreamName(name)).toThrow(/instance name/);
});
