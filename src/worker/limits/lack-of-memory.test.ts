import { expect, test } from "vitest";
import { lackOfMemory, type MemoryEvidence } from "./lack-of-memory.ts";

const megabyte = 1e6;
const nothing: MemoryEvidence = {
  kills: 0,
  killsOnMachine: 0,
  endedByWatch: false,
  peakBytes: 10 * megabyte,
  limitBytes: 100 * megabyte,
  machineBytes: 1_000 * megabyte,
  exitCode: 1,
  wasStopped: false,
};
const watched = { ...nothing, kills: undefined };

test.each<[string, MemoryEvidence, string | undefined]>([
  ["a failure", nothing, undefined],
  [
    "a failure at the limit, with nobody ended",
    { ...nothing, peakBytes: 100 * megabyte },
    undefined,
  ],
  [
    "an end by the kernel at the limit",
    { ...nothing, kills: 1, peakBytes: 99 * megabyte },
    "limit",
  ],
  [
    "an end by the kernel, of a child, that the parent tells as a failure of its own",
    { ...nothing, kills: 1, peakBytes: 99 * megabyte, exitCode: 2 },
    "limit",
  ],
  ["an end by the kernel well below the limit", { ...nothing, kills: 1 }, "machine"],
  [
    "an end by the kernel without a limit",
    { ...nothing, kills: 1, limitBytes: undefined },
    "machine",
  ],
  [
    "SIGKILL at the limit that the group did not count",
    { ...nothing, exitCode: 137, peakBytes: 95 * megabyte },
    "limit",
  ],
  ["SIGKILL below the limit", { ...nothing, exitCode: 137 }, undefined],
  [
    "SIGKILL of ours",
    { ...nothing, exitCode: 137, peakBytes: 95 * megabyte, wasStopped: true },
    undefined,
  ],
  ["what the watch ended", { ...watched, endedByWatch: true }, "limit"],
  ["a neighbour's end", { ...watched, killsOnMachine: 1 }, undefined],
  [
    "a SIGKILL when the machine had no more",
    { ...watched, killsOnMachine: 1, exitCode: 137 },
    "machine",
  ],
  [
    "a failure of whoever had most of a machine that had no more",
    { ...watched, killsOnMachine: 1, peakBytes: 600 * megabyte, limitBytes: undefined },
    "machine",
  ],
  ["a SIGKILL by another process", { ...watched, exitCode: 137 }, undefined],
  ["success", { ...watched, killsOnMachine: 1, exitCode: 0, peakBytes: 900 * megabyte }, undefined],
])("%s", (_, evidence, expected) => {
  expect(lackOfMemory(evidence)).toBe(expected);
});
