import { expect, test } from "vitest";
import { readCachegrind, readPerf } from "./counters.ts";

test.each([
  ["as perf writes it", "123456,,instructions:u,2000000,100.00,,\n", 123456],
  ["behind remarks", "# started on Sun\n\n77,,instructions:u,1,100.00,0.9,insn per cycle\n", 77],
  ["not supported", "<not supported>,,instructions:u,0,100.00,,\n", undefined],
  ["not counted", "<not counted>,,instructions:u,0,0.00,,\n", undefined],
  ["shared with other events", "123456,,instructions:u,2000000,73.20,,\n", undefined],
  ["nothing", "", undefined],
])("perf: %s", (_, report, count) => {
  expect(readPerf(report)).toBe(count);
});

test.each([
  ["one process", "==7== Command: ls\n==7== \n==7== I   refs:      550,161\n", 550_161],
  ["children, too", "==7== I refs: 1,000\n==8== I refs: 23\n", 1_023],
  ["killed before its end", "==7== Command: ls\n", undefined],
])("cachegrind: %s", (_, report, count) => {
  expect(readCachegrind(report)).toBe(count);
});
