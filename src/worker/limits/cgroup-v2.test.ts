import { expect, test } from "vitest";
import { sampleOf, settingsOf } from "./cgroup-v2.ts";

/** The written settings, as `file=text`; the files themselves exist only on machines with v2 controllers. */
const written = (limits: Parameters<typeof settingsOf>[0], ...controllers: string[]) =>
  settingsOf(limits, new Set(["memory", ...controllers])).map(
    ({ file, text }) => `${file}=${text}`,
  );

test("memory is limited without swap, and a tree is killed as a whole", () => {
  expect(written({ memoryBytes: 1e9, processes: 7 })).toEqual([
    "memory.max=1000000000",
    "memory.swap.max=0",
    "memory.oom.group=1",
  ]);
});

test("whole exclusive CPUs need no quota; fractions and shared CPUs do", () => {
  const all = ["cpu", "cpuset", "pids"];

  expect(written({ cpus: 2, cpuSet: [2, 3], processes: 7 }, ...all)).toEqual([
    "cpuset.cpus=2,3",
    "pids.max=7",
  ]);
  expect(written({ cpus: 1.5, cpuSet: [2, 3], processes: 7 }, ...all)).toEqual([
    "cpuset.cpus=2,3",
    "cpu.max=150000 100000",
    "pids.max=7",
  ]);
  expect(written({ cpus: 2, cpuSet: [2, 3], processes: 7 }, "cpu")).toEqual([
    "cpu.max=200000 100000",
  ]);
});

test("without limits, nothing is limited", () => {
  expect(written({ processes: 7 }, "cpu", "cpuset")).toEqual([]);
});

test("cached files are charged, but not held", () => {
  const stat = new Map([
    ["anon", 10],
    ["file", 70],
    ["shmem", 5],
    ["kernel_stack", 1],
  ]);

  expect(sampleOf(stat, 86)).toEqual({ chargedBytes: 86, heldBytes: 16 });
});
