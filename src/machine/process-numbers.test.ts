import { expect, test } from "vitest";
import { parseNamespaceNumbers, processNumbers } from "./process-numbers.ts";

test("NSpid lists the number in each namespace, from that of /proc to the process's own", () => {
  expect(parseNamespaceNumbers("Name:\tsh\nNSpid:\t4711\t14\t2\nNSpgid:\t1\n")).toEqual([
    4711, 14, 2,
  ]);
  expect(parseNamespaceNumbers("Name:\tsh\n")).toEqual([]);
});

test("this process has one number for signals", () => {
  const numbers = processNumbers();
  const inProc = numbers.inProc(process.pid);

  // Without a /proc, every number is the process's own.
  const ofSignals = inProc === undefined ? process.pid : numbers.ofSignals(inProc);
  expect(ofSignals).toBe(process.pid);
});
