import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sweepLeftovers } from "./leftovers.ts";
import { isAlive, ownOwner } from "./owner.ts";

test("knows itself to be alive, and a process id that was used again to be another", () => {
  const [pid, , namespace] = ownOwner().split("-");

  expect(isAlive(ownOwner())).toBe(true);
  expect(isAlive(`${pid}-1-${namespace}`)).toBe(false);
});

test("says of a process in another pid namespace that it may be alive", () => {
  expect(isAlive("4194303-1-999")).toBe(true);
});

test("sweeps what a dead worker left, and nothing of a living one", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-left-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const [pid, , namespace] = ownOwner().split("-");
  const [dead, living] = [`${pid}-1-${namespace}`, ownOwner()].map((owner) =>
    join(dataDir, "run", owner),
  );
  for (const directory of [dead, living])
    mkdirSync(join(directory ?? "", "0/tmp"), { recursive: true });

  await sweepLeftovers(dataDir);

  expect([dead, living].map((directory) => existsSync(directory ?? ""))).toEqual([false, true]);
});
