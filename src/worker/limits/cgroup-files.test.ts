import { expect, test } from "vitest";
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
