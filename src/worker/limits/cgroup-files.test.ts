import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parseCgroups } from "./cgroup-files.ts";

const line = (root: string, at: string, rest: string) =>
  `30 24 0:26 ${root} ${at} rw,nosuid - ${rest}`;

test("finds the group of each controller, and the v2 group beside them", () => {
  const mountInfo = [
    line("/", "/sys/fs/cgroup/cpu,cpuacct", "cgroup cgroup rw,cpu,cpuacct"),
    line("/", "/sys/fs/cgroup/memory", "cgroup cgroup rw,memory"),
    line("/", "/sys/fs/cgroup/unified", "cgroup2 cgroup2 rw"),
  ].join("\n");

  const { v1, v2 } = parseCgroups(mountInfo, "3:cpu,cpuacct:/\n2:memory:/a/b\n0::/c\n");

  expect(v1.get("memory")).toBe("/sys/fs/cgroup/memory/a/b");
  expect(v1.get("cpuacct")).toBe("/sys/fs/cgroup/cpu,cpuacct");
  expect(v2).toBe("/sys/fs/cgroup/unified/c");
});

test("finds its group when a container mounts only a part", () => {
  const mountInfo = line("/docker/1", "/sys/fs/cgroup/memory", "cgroup cgroup rw,memory");

  expect(parseCgroups(mountInfo, "2:memory:/docker/1/x").v1.get("memory")).toBe(
    "/sys/fs/cgroup/memory/x",
  );
});

test("a group is not taken for empty while no file handle is free to read it", async () => {
  const group = await mkdtemp(join(tmpdir(), "grange-group-"));
  onTestFinished(() => rm(group, { recursive: true }));
  const member = spawn("sleep", ["600"], { stdio: "ignore" });
  onTestFinished(() => void member.kill("SIGKILL"));
  await once(member, "spawn");
  await writeFile(join(group, "cgroup.procs"), `${member.pid}\n`);
  const ended = once(member, "exit");
  // Takes all handles that it may have, begins to kill the group, and then gives the handles back.
  const script = `
    import { closeSync, openSync, writeFileSync } from "node:fs";
    import { killAllIn } from ${JSON.stringify(join(import.meta.dirname, "cgroup-files.ts"))};
    const taken = [];
    try {
      for (;;) taken.push(openSync("/dev/null"));
    } catch {
      // No handle is free any more.
    }
    const killed = killAllIn(process.argv[1], undefined);
    setTimeout(() => {
      for (const each of taken) closeSync(each);
      setTimeout(() => writeFileSync(process.argv[1] + "/cgroup.procs", ""), 100);
    }, 20);
    await killed;
  `;

  await promisify(execFile)("sh", [
    "-c",
    'ulimit -n 100; exec "$@"',
    "sh",
    process.execPath,
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    script,
    group,
  ]);

  expect((await ended)[1]).toBe("SIGKILL");
});
