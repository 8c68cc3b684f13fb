import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linux } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { isAlive, ownOwner, startTimeOf } from "./owner.ts";

test("knows that it is alive, and that a reused process id belongs to another process", () => {
  const [pid, , namespace] = ownOwner().split("-");

  expect(isAlive(ownOwner())).toBe(true);
  expect(isAlive(`${pid}-1-${namespace}`)).toBe(false);
});

test("assumes that a process in another pid namespace may be alive", () => {
  expect(isAlive("4194303-1-999")).toBe(true);
});

test("reads only the owner part of a name", () => {
  expect(isAlive(`${ownOwner()}-7`)).toBe(true);
});

test(
  "a process that has ended owns nothing, even before its parent has waited for it",
  needs(linux),
  async () => {
    // Its parent becomes `sleep`, which never waits for its child.
    const parent = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 60"]);
    const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(chunk.toString());
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) Z /);

    expect(startTimeOf(pid)).toBeUndefined();

    parent.kill("SIGKILL");
    await once(parent, "exit");
  },
);
