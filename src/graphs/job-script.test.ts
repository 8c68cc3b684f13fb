import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { jobScript } from "./job-script.ts";

function run(job: Parameters<typeof jobScript>[0]) {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", jobScript(job)], {
    encoding: "utf8",
    cwd: "/",
    env: { PATH: "/bin:/usr/bin" },
  });
  return { status, stdout, stderr };
}

describe("the script of a job", () => {
  test("prints each command, then its output, all in one stream", () => {
    expect(run({ commands: ["echo one", "echo 'it''s' >&2"] })).toEqual({
      status: 0,
      stdout: "$ echo one\none\n$ echo 'it''s'  >&2\nits\n".replace("  >", " >"),
      stderr: "",
    });
  });

  test("ends at the first failing command, with its exit code", () => {
    const { status, stdout } = run({ commands: ["(exit 7)", "echo never"] });

    expect(status).toBe(7);
    expect(stdout).not.toContain("never\n");
  });

  test("an unset variable is a failure", () => {
    expect(run({ commands: ["echo $NO_SUCH_VARIABLE"] }).status).not.toBe(0);
  });

  test("commands of several lines are printed unchanged, and share the shell", () => {
    expect(run({ commands: ["x=1\ny=2", 'echo "$x$y"'] }).stdout).toBe(
      '$ x=1\n  y=2\n$ echo "$x$y"\n12\n',
    );
  });

  test.each([
    { accepted: [0, 3], exits: 3, status: 0 },
    { accepted: [0, 3], exits: 0, status: 0 },
    { accepted: [0, 3], exits: 4, status: 4 },
    { accepted: [1], exits: 1, status: 0 },
    { accepted: [1], exits: 0, status: 1 },
    { accepted: [0], exits: 2, status: 2 },
  ])(
    "where $accepted count as success, exit code $exits becomes $status",
    ({ accepted, exits, status }) => {
      expect(run({ commands: [`exit ${exits}`], success: { "exit-codes": accepted } }).status).toBe(
        status,
      );
    },
  );

  test("starts in the job's directory, with any name", () => {
    expect(run({ commands: ["pwd"], "working-directory": "usr/bin" }).stdout).toContain("/usr/bin");
    expect(jobScript({ commands: ["pwd"], "working-directory": "it's" })).toContain(
      `cd 'it'\\''s'`,
    );
  });
});
