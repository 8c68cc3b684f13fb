import { expect, test } from "vitest";
import { cpuListText, parseCpuList } from "./cpu-list.ts";
import { machineSize, quotaOfV1, quotaOfV2, usableCpus } from "./machine-size.ts";

test.each([
  ["0-3,8\n", [0, 1, 2, 3, 8]],
  ["5", [5]],
  ["1,0,1", [0, 1]],
  ["", []],
  ["nonsense", []],
])("%j is a list of CPUs", (text, cpus) => {
  expect(parseCpuList(text)).toEqual(cpus);
});

test("a CPU list is written as the kernel and taskset read it", () => {
  expect(cpuListText([3, 0, 10])).toBe("0,3,10");
});

test.each([
  ["max 100000\n", undefined],
  ["150000 100000\n", 1.5],
  ["", undefined],
])("cpu.max %j gives %s CPUs", (text, cpus) => {
  expect(quotaOfV2(text)).toBe(cpus);
});

test("a quota of v1 is a share of its period, and -1 is none", () => {
  expect(quotaOfV1("50000\n", "100000\n")).toBe(0.5);
  expect(quotaOfV1("-1\n", "100000\n")).toBeUndefined();
});

test("this machine has CPUs and memory", () => {
  const { cpus, memoryBytes } = machineSize();

  expect(cpus).toBeGreaterThan(0);
  expect(cpus).toBeLessThanOrEqual(usableCpus().length);
  expect(memoryBytes).toBeGreaterThan(2 ** 28);
});
