import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "#machine/owner.ts";
import { marker } from "#measuring/processes/own-processes.ts";
import { endLeftovers } from "./end-leftovers.ts";

/** Starts a program that outlives its shell. */
async function orphan(env: Record<string, string>): Promise<number> {
  const shell = spawn("/bin/sh", ["-c", "sleep 86391 >/dev/null 2>&1 & echo $!"], {
    env: { PATH: "/usr/bin:/bin", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [chunk] = (await once(shell.stdout, "data")) as [Buffer];
  if (shell.exitCode === null) await once(shell, "exit");
  const pid = Number(chunk.toString());
  onTestFinished(() => {
    if (startTimeOf(pid) !== undefined) process.kill(pid, "SIGKILL");
  });
  return pid;
}

test("ends measured programs without a collector, and no others", async () => {
  const left = await orphan({ [marker]: "0011223344556677" });
  const stranger = await orphan({});
  const ours = spawn("sleep", ["86391"], { env: { [marker]: "0011223344556677" } });
  await once(ours, "spawn");

  expect(endLeftovers()).toBeGreaterThanOrEqual(1);

  for (let i = 0; i < 200 && startTimeOf(left) !== undefined; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(startTimeOf(left)).toBeUndefined();
  expect([startTimeOf(stranger), startTimeOf(ours.pid ?? 0)]).not.toContain(undefined);
  ours.kill("SIGKILL");
  await once(ours, "exit");
});
