import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { listVersions } from "./list-versions.ts";
import { testRegistry, useRegistry } from "./registry.fixture.ts";

// Runs npm itself, which takes a second to start, on a possibly busy machine.

test("npm tells versions with their times, also when there is one", async () => {
  await testRegistry([
    { package: "@compiler/one", version: "1.0.0", time: "2026-01-01T00:00:00.000Z" },
    { package: "two", version: "1.0.0" },
    { package: "two", version: "2.0.0-dev.20260601.1" },
  ]);

  expect(await listVersions("@compiler/one")).toEqual({
    package: "@compiler/one",
    versions: ["1.0.0"],
    time: { "1.0.0": "2026-01-01T00:00:00.000Z" },
  });
  expect((await listVersions("two")).versions).toEqual(["1.0.0", "2.0.0-dev.20260601.1"]);
});

test("a package that is not there is not found", async () => {
  await testRegistry([{ package: "other", version: "1.0.0" }]);

  await expect(listVersions("none")).rejects.toMatchObject({
    code: "not_found",
    message: "npm was called for none: the registry does not have it (E404)",
  });
});

test("a registry that cannot be reached may be reached later", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  // The port of discarded mail: no process listens there.
  useRegistry("http://127.0.0.1:9", mkdtempSync(join(tmpdir(), "grange-npm-")));

  await expect(listVersions("none")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("npm config get registry"),
  });
});

test("a machine without npm is told so", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("PATH", "/nowhere");

  await expect(listVersions("none")).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringContaining("not installed"),
  });
});

test.each([
  { reason: undefined, code: "cancelled" },
  { reason: new DOMException("late", "TimeoutError"), code: "deadline_exceeded" },
])("what is given up is $code", async ({ reason, code }) => {
  await expect(listVersions("none", { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
    code,
  });
});
