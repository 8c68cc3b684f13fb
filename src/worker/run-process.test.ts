import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readlinkSync, writeSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { linux } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import type { CapturedLog } from "./logs/captured-log.ts";
import { runProcess } from "./run-process.ts";

const directory = await mkdtemp(join(tmpdir(), "grange-run-process-"));
afterAll(() => rm(directory, { recursive: true }));

/** Returns a pipe that contains text and whose write end is closed. */
function printed(name: string, text: string): number {
  const path = join(directory, name);
  execFileSync("mkfifo", [path]);
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openSync(path, constants.O_WRONLY);
  writeSync(writeEnd, text);
  closeSync(writeEnd);
  return readEnd;
}

const openFilesOn = (target: string) =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === target;
    } catch {
      return false;
    }
  }).length;

test("with a full disk, no log stays open", needs(linux), async () => {
  // Given a scratch directory in which neither log can be written
  for (const name of ["stdout", "stderr"]) await symlink("/dev/full", join(directory, name));
  let streamed: CapturedLog | undefined;
  const nothing = async () => {};
  // A process of a group of its own, which has ended.
  const child = spawn("true", { detached: true, stdio: "ignore" });
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));

  const running = runProcess({
    process: {
      pid: child.pid,
      exited,
      stdout: printed("out", "told"),
      stderr: printed("err", "told"),
    },
    group: {
      before: [],
      commandLine: (argv: readonly string[]) => [...argv],
      limit: nothing,
      began() {},
      members: async () => [],
      kill: nothing,
      usage: async () => ({ measuredBy: "" }),
      lack: async () => undefined,
      close: nothing,
    } as never,
    inNamespace: true,
    scratch: directory,
    logLimitBytes: 1_000,
    timeoutMs: 10_000,
    killGraceMs: 0,
    stop: new AbortController().signal,
    started: (stdout) => {
      streamed = stdout;
    },
    hear: undefined,
    secrets: undefined,
  });

  await expect(running).rejects.toThrow("ENOSPC");
  await streamed?.close();
  expect(openFilesOn("/dev/full")).toBe(0);
});
