import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Need, skipWithout } from "../../test/support/needs/needs.ts";
import { startHelperShell } from "./helper-shell.ts";
import { ProgramStarter, type StartRequest } from "./program-starter.ts";

const searchPath = "/usr/local/bin:/usr/bin:/bin";

const compiled: Need = {
  name: "a compiled program for this machine",
  missing: ["x64", "arm64"].includes(process.arch) ? undefined : `it is not for ${process.arch}`,
  remedy: { kind: "machine" },
};

async function open() {
  const runDir = mkdtempSync(join(tmpdir(), "grange-starter-"));
  const shell = await startHelperShell("plain", searchPath);
  const { starter, why } = await ProgramStarter.open(shell, searchPath, runDir);
  onTestFinished(async () => {
    await starter?.stop();
    await shell.stop();
    rmSync(runDir, { recursive: true, force: true });
  });
  const run = (script: string, more: Partial<StartRequest> & { readonly last?: string } = {}) => {
    const { last = "", ...others } = more;
    const argv = ["/bin/sh", "-c", script, "sh", last];
    if (starter === undefined) throw new Error(`it does not work here: ${why}`);
    return starter.start({ stdout: "", stderr: "", groups: [], argv, ...others });
  };
  return { runDir, shell, starter, run };
}

test("a started program has its arguments, and its status is reported", async (context) => {
  skipWithout(context, compiled);
  const { run } = await open();
  // More than the first buffer of the process.
  const last = "x".repeat(100_000);

  const ended = await Promise.all(
    ["[ ${#1} = 100000 ] || exit 1; exit 3", "kill -TERM $$", "exit 0"].map(async (script) => {
      const { exited } = await run(script, { last });
      return exited;
    }),
  );

  expect(ended).toEqual([3 << 8, 15, 0]);
});

test("a started program leads a session, ends first without memory, and inherits no open file", async (context) => {
  skipWithout(context, compiled);
  const { run, runDir } = await open();
  const { pid, exited } = await run(
    `{ cut -d' ' -f6 /proc/$$/stat; cat /proc/$$/oom_score_adj; readlink /proc/$$/fd/*; } >${runDir}/seen; exit 0`,
  );

  expect(await exited).toBe(0);
  const [session, score, ...files] = readFileSync(join(runDir, "seen"), "utf8").trim().split("\n");
  expect([session, score]).toEqual([`${pid}`, "1000"]);
  expect([...new Set(files)].toSorted()).toEqual(["/dev/null", join(runDir, "seen")].toSorted());
});

test("a program whose control group is gone does not run", async (context) => {
  skipWithout(context, compiled);
  const { run, runDir } = await open();

  const { exited } = await run(`: >${runDir}/ran`, { groups: [join(runDir, "no/group")] });

  expect(await exited).toBe(1 << 8);
  expect(() => readFileSync(join(runDir, "ran"))).toThrow("ENOENT");
});

test("a pipe without another end is refused", async (context) => {
  skipWithout(context, compiled);
  const { run } = await open();

  await expect(run("exit 0", { stdout: "/no/such/pipe" })).rejects.toThrow(/error 2$/);
});

test("a program that is not there ends with 127", async (context) => {
  skipWithout(context, compiled);
  const { run, starter } = await open();

  const { exited } = await run("", { argv: ["/no/such"] });

  expect(await exited).toBe(127 << 8);
  expect([starter?.pathOf("no-such-program"), starter?.pathOf("/no/such")]).toEqual([
    undefined,
    "/no/such",
  ]);
});

test("programs still run when the helper shell was replaced, and the earlier ones go on", async (context) => {
  skipWithout(context, compiled);
  const { run, shell, runDir } = await open();
  const earlier = await run(`until [ -e ${runDir}/over ]; do sleep 0.01; done; exit 4`);
  process.kill(shell.generation, "SIGKILL");
  await expect.poll(() => shell.generation).toBe(0);

  const later = await run(`: >${runDir}/over; exit 5`);

  expect(await Promise.all([earlier.exited, later.exited])).toEqual([4 << 8, 5 << 8]);
});

test("when its process is killed, running programs count as lost, and the next one starts", async (context) => {
  skipWithout(context, compiled);
  const { run } = await open();
  // Its parent is the process.
  const { exited } = await run("kill -9 $PPID; exit 6");

  await expect(exited).rejects.toThrow("has ended");
  expect(await (await run("exit 7")).exited).toBe(7 << 8);
});

test("where it does not work, it says why", async (context) => {
  skipWithout(context, compiled);
  const { shell, runDir } = await open();
  const other = mkdtempSync(join(runDir, "other-"));

  const chosen = await ProgramStarter.open(shell, "/no/such/directory", other);

  expect(chosen).toEqual({ starter: undefined, why: "sh is not in the path" });
});
