import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownOwner } from "#machine/owner.ts";
import { sweepLeftovers } from "./leftovers.ts";

test("removes the remains of a dead worker, and nothing of a living one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-left-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const [pid, , namespace] = ownOwner().split("-");
  const [dead, living] = [`${pid}-1-${namespace}`, ownOwner()].map((owner) =>
    join(dataDir, "run", owner),
  );
  for (const directory of [dead, living])
    mkdirSync(join(directory ?? "", "0/tmp"), { recursive: true });
  const pipes = [dead, living].map((directory) => {
    const at = mkdtempSync(join(tmpdir(), "grange-pipes-"));
    onTestFinished(() => rmSync(at, { recursive: true, force: true }));
    symlinkSync(at, join(directory ?? "", "0/pipes"));
    return at;
  });
  const others = mkdtempSync(join(tmpdir(), "grange-others-"));
  onTestFinished(() => rmSync(others, { recursive: true, force: true }));
  mkdirSync(join(dead ?? "", "1"));
  symlinkSync(others, join(dead ?? "", "1/pipes"));

  await sweepLeftovers(dataDir);

  expect([dead, living].map((directory) => existsSync(directory ?? ""))).toEqual([false, true]);
  expect(pipes.map((directory) => existsSync(directory))).toEqual([false, true]);
  expect(existsSync(others)).toBe(true);
});
