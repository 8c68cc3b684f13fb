import { expect, test } from "vitest";
import { attackNames, type Defence } from "./attack-list.ts";
import { attacksNotStopped, notStoppedText } from "./attacks-not-stopped.ts";

const all: readonly Defence[] = [
  "worker",
  "sandbox",
  "own /proc",
  "system-call filter",
  "abstract-socket scope",
  "no user namespaces",
  "process limit",
  "memory limit",
  "disk quota",
  "private network",
];
const without = (...missing: readonly Defence[]) => ({
  parts: new Set(all.filter((part) => !missing.includes(part))),
  allowedCalls: [],
});

test("a worker with all defences stops all attacks", () => {
  expect(attacksNotStopped(without())).toEqual([]);
});

test("a worker names what it does not stop, and the cause", () => {
  expect(notStoppedText(without("memory limit", "private network"))).toBe(
    "connects to services on the machine's loopback (network: true) (without --private-network); " +
      "uses all memory, uses all memory as files in /dev/shm (without --memory)",
  );
});

test("a call that the operator allows is an attack that is not stopped", () => {
  const defences = { ...without(), allowedCalls: ["bpf", "io_uring_setup"] as const };

  expect(attacksNotStopped(defences)).toContain("loads a BPF program");
  expect(notStoppedText(defences)).toContain(
    "loads a BPF program, uses io_uring (by --allow-calls)",
  );
});

test("without a sandbox the text counts attacks, and a farm accepts its length", () => {
  const defences = { parts: new Set<Defence>(["worker"]), allowedCalls: [] };
  const text = notStoppedText(defences);

  expect(attacksNotStopped(defences).length).toBeGreaterThan(attackNames.length / 2);
  expect(text).toMatch(/\d+ known attacks: \d+ on files, \d+ on processes, .*\(no sandbox\)/);
  // The limit of the farm for the text of a facility.
  expect(text.length).toBeLessThanOrEqual(1_024);
});
