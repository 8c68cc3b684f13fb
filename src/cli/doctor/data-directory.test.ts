import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { dataDirectoryChecks } from "./data-directory.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-doctor-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

test("a directory that is not there yet is judged by where it would be, and nothing is left", async () => {
  const checks = dataDirectoryChecks(join(dir, "not", "yet"));

  const findings = await Promise.all(checks.map((check) => check.run()));

  expect(findings.map((finding) => finding.status)).not.toContain("fail");
  expect(await readdir(dir)).toEqual([]);
});

test("one that cannot be written fails, with a way out", async () => {
  const [first] = dataDirectoryChecks("/proc/grange");

  expect(await first?.run()).toMatchObject({ status: "fail" });
  expect(first?.fix).toContain("GRANGE_DATA");
});
