import { expect, test } from "vitest";
import { parseRollup } from "../../bench/show/start/memory-of.ts";
import { descendantsOf, parseStat } from "../../bench/show/start/process-tree.ts";

test("the CPU time of a process includes its ended children, whatever the program is called", () => {
  const stat =
    "42 (a) b (c) S 7 42 42 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 7 0 500 1000 200 18446744073709551615";

  expect(parseStat(stat)).toEqual({ pid: 42, name: "a) b (c", parent: 7, cpuTicks: 110 });
});

test("descendants include those of descendants, and no other processes", () => {
  const process = (pid: number, parent: number) => ({ pid, parent, name: "x", cpuTicks: 0 });
  const all = [process(30, 20), process(1, 0), process(10, 1), process(20, 10), process(40, 1)];

  expect(descendantsOf(10, all).map(({ pid }) => pid)).toEqual([10, 20, 30]);
});

test("memory is read from the rollup of all mappings", () => {
  const rollup =
    "00400000-7fff [rollup]\nRss:   1234 kB\nPss:    567 kB\nPss_Dirty:  5 kB\nPss_Anon: 9 kB\n";

  expect(parseRollup(rollup)).toEqual({ pssKib: 567, rssKib: 1234 });
});
