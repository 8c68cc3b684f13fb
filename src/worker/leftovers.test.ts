import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownOwner } from "#machine/owner.ts";
import { sweepLeftovers } from "./leftovers.ts";

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
