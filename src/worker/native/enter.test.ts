import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jobOwner, jobUser } from "#machine/job-owner.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { restrictingProgram } from "../sandbox/system-calls/restricting-program.ts";
import { seccompFilter } from "../sandbox/system-calls/seccomp-filter.ts";
import { encodeCommand, type WaitingCommand } from "../sandbox/waiting-command.ts";
import { restrictionNeeds } from "../sandbox-needs.fixture.ts";

const { filter: filterNeed } = await restrictionNeeds();

let directory = "";
let program = "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "grange-enter-"));
  program = join(directory, "enter");
  const filter = seccompFilter(process.arch, { allowedCalls: [], allowsNamespaces: true });
  if (filter === undefined) return;
  const restrictions = { filter, closesAbstractSockets: false, owner: jobOwner };
  writeFileSync(program, restrictingProgram(process.arch, restrictions) ?? "", { mode: 0o755 });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the program until it has become a command, whose end is returned. */
function become(command: Partial<WaitingCommand>, options = "-w") {
  const whole = { arguments: [], environment: new Map(), directory: "/", ...command };
  return spawnSync(program, [options], {
    input: encodeCommand(whole),
    env: { LEFT: "over" },
    encoding: "utf8",
  });
}

const show =
  "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))";

describe("the program that a waiting sandbox runs", needs(filterNeed), () => {
  test("becomes a command with all its letters, and with no other variable", () => {
    const odd = ["", "a b", "'", '"$(exit 1)`\\', "two\nlines", "é\u{1F600}", "-n"];
    // More than its first buffer.
    const long = "x".repeat(100_000);
    const environment = { A: "it's\n$A", "a.b-c": "odd name", "-u": "option", UID: "7", EMPTY: "" };

    const { stdout } = become({
      arguments: [process.execPath, "-e", show, "--", ...odd, long],
      environment: new Map(Object.entries(environment)),
      directory: "/usr",
    });

    expect(JSON.parse(stdout)).toEqual([[...odd, long], environment, "/usr"]);
  });

  test("finds a program as a shell does", () => {
    const first = mkdtempSync(join(directory, "first-"));
    writeFileSync(join(first, "tool"), "echo no shebang: $1\n", { mode: 0o755 });
    writeFileSync(join(first, "sh"), "not executable");
    const environment = new Map([["PATH", `/nonesuch:${first}:/usr/bin:/bin`]]);

    const script = become({ arguments: ["tool", "yes"], environment });
    const shell = become({ arguments: ["sh", "-c", "exit 7"], environment });
    const withoutPath = become({ arguments: ["sh", "-c", "exit 8"] });

    expect(script).toMatchObject({ status: 0, stdout: "no shebang: yes\n" });
    expect([shell.status, withoutPath.status]).toEqual([7, 8]);
  });

  test.each([
    { what: "a missing program", argv: ["no-such"], status: 127, says: /no-such: not found/ },
    { what: "a directory", argv: ["/usr"], status: 126, says: /\/usr: permission denied/ },
    {
      what: "an argument that the kernel does not take",
      argv: ["true", "x".repeat(200_000)],
      status: 126,
      says: /true: its arguments and environment are too long/,
    },
  ])("ends with a shell's exit code for $what", ({ argv, status, says }) => {
    const ended = become({ arguments: argv });

    expect(ended.status).toBe(status);
    expect(ended.stderr).toMatch(says);
  });

  test("ends with 126 for a directory that is not there", () => {
    const ended = become({ arguments: ["true"], directory: "/no/such" });

    expect(ended).toMatchObject({ status: 126, stderr: expect.stringContaining("/no/such") });
  });

  test("ends without an error when its sandbox is not needed any more", () => {
    const ended = spawnSync(program, ["-w"], { input: "", encoding: "utf8" });

    expect(ended).toMatchObject({ status: 0, stderr: "" });
  });

  test.each([
    {
      what: "a cut-off message",
      input: encodeCommand({
        arguments: ["true"],
        environment: new Map(),
        directory: "/",
      }).subarray(0, 20),
    },
    { what: "impossible counts", input: Buffer.from("ffffffffffffffffffffffff2f00", "hex") },
    { what: "no arguments", input: Buffer.from("0000000000000000000000002f00", "hex") },
  ])("refuses $what", ({ input }) => {
    const ended = spawnSync(program, ["-w"], { input, encoding: "utf8" });

    expect(ended.status).toBe(1);
    expect(ended.stderr).toContain("a command cannot be understood");
  });

  test("its command's stdin is empty", () => {
    expect(become({ arguments: ["cat"] })).toMatchObject({ status: 0, stdout: "" });
  });

  test("its command cannot remove the restrictions", () => {
    const { stdout } = become({
      arguments: ["grep", "-E", "^(Seccomp|NoNewPrivs):", "/proc/self/status"],
    });

    expect(stdout).toBe("NoNewPrivs:\t1\nSeccomp:\t2\n");
  });

  const asRoot = {
    name: "root",
    missing: jobOwner === undefined ? "this is not root" : undefined,
    remedy: { kind: "root" },
  } as const;

  test("root becomes the user of jobs, without rights and other users", needs(asRoot), () => {
    const script =
      "id -u; id -g; id -G; cat /proc/self/uid_map /proc/self/setgroups; grep CapEff /proc/self/status";

    const { stdout } = become({ arguments: ["sh", "-c", script] }, "-ow");

    const { uid, gid } = jobUser;
    expect(stdout.replaceAll(/ +/g, " ").split("\n")).toEqual([
      `${uid}`,
      `${gid}`,
      `${gid}`,
      ` ${uid} ${jobOwner?.uid} 1`,
      "deny",
      "CapEff:\t0000000000000000",
      "",
    ]);
  });
});
