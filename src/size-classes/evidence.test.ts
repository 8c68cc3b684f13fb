import { expect, test } from "vitest";
import { evidenceOf } from "./evidence.ts";
import type { EndedRun } from "./strategy.ts";

const greatest = 8;

function run(sizeClass: number, end: EndedRun["end"]): EndedRun {
  return { sizeClass, end, durationMs: 1_000, timeoutMs: 2_000 };
}

test.each<[string, EndedRun[], number[], string]>([
  ["a success", [run(1, "succeeded")], [0], "succeeded"],
  ["a failure below the greatest, alone", [run(4, "failed")], [], "open"],
  ["a timeout below the greatest, alone", [run(4, "timed_out")], [], "open"],
  ["out of memory, at once", [run(2, "out_of_memory")], [0], "open"],
  ["a failure, and a success above", [run(1, "failed"), run(2, "succeeded")], [0, 1], "succeeded"],
  [
    "a timeout, and a success above",
    [run(1, "timed_out"), run(8, "succeeded")],
    [0, 1],
    "succeeded",
  ],
  [
    "a failure, and a success on the same",
    [run(2, "failed"), run(2, "succeeded")],
    [1],
    "succeeded",
  ],
  ["a timeout above a success", [run(4, "timed_out"), run(1, "succeeded")], [1], "succeeded"],
  ["failures all the way up", [run(1, "failed"), run(8, "failed")], [], "failed-on-greatest"],
  ["no memory on the greatest", [run(8, "out_of_memory")], [0], "failed-on-greatest"],
  ["a lost worker", [run(8, "lost")], [], "open"],
  ["a lost worker, and a success", [run(1, "lost"), run(1, "succeeded")], [1], "succeeded"],
])("%s", (_title, runs, remembered, verdict) => {
  expect(evidenceOf(runs, greatest)).toEqual({ remembered, verdict });
});
