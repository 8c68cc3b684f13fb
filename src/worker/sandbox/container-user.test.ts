import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { holds, jobOwner } from "#machine/job-owner.ts";
import { root } from "../../../test/support/needs/machine-needs.ts";
import { type Need, needs } from "../../../test/support/needs/needs.ts";
import { asContainerUser } from "./container-user.ts";
import { type HostProgram, hostProgram } from "./host-programs.ts";

const run = promisify(execFile);

const firstOutside = 1_900_000_000;

const ids: Need = {
  name: "a machine whose users have all ids",
  missing:
    jobOwner !== undefined && holds(readFileSync("/proc/self/uid_map", "utf8"), firstOutside)
      ? undefined
      : "this is an ordinary user, or root of a user namespace",
  remedy: { kind: "root" },
};

describe("a user of a container", needs(root, ids), () => {
  const user = {
    ids: [
      { inside: 0, outside: jobOwner?.uid ?? 0, count: 1 },
      { inside: 1, outside: firstOutside, count: 1_000 },
    ],
    uid: 900,
    gid: 901,
    groups: [],
  };

  /** A shell that prints the ids of its user namespace a while before it starts. */
  const slowShell = 'sleep 0.2; echo "before: $(cat /proc/self/uid_map)" >&2; exec /bin/sh "$@"';
  const command = (program: HostProgram) =>
    program === "sh" ? ["/bin/sh", "-c", slowShell, "sh"] : [hostProgram(program)];

  test("has no ids before the shell that waits for them has started, however long that takes", async () => {
    const [program = "", ...args] = asContainerUser(user, command);

    const { stdout, stderr } = await run(program, [...args, "/bin/sh", "-c", "id -u; id -g"]);

    expect(stderr.trim().split("\n").at(-1)).toBe("before:");
    expect(stdout).toBe("900\n901\n");
  });
});
