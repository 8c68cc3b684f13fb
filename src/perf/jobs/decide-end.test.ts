import { expect, test } from "vitest";
import type { JobEnd } from "#api/collector.ts";
import { decideClaim } from "./decide-claim.ts";
import { type AfterJob, decideEnd, decideSilence } from "./decide-end.ts";

const job = (attempts: number) => ({
  attempts,
  maxAttempts: 3,
  collector: "lab-1",
  epoch: attempts,
});

test.each<[JobEnd, number, AfterJob]>([
  [{ outcome: "success" }, 3, { state: "success" }],
  [{ outcome: "permanent", error: "no" }, 1, { state: "failure", error: "no" }],
  [
    { outcome: "transient", error: "no" },
    2,
    { state: "queued", attempts: 2, afterMs: 30_000, error: "no" },
  ],
  [
    { outcome: "transient", error: "no" },
    3,
    { state: "failure", error: "given up after 3 attempts; the last one: no" },
  ],
  [
    { outcome: "handed-back", why: "an update" },
    3,
    { state: "queued", attempts: 2, afterMs: 0, error: null },
  ],
])("the end %j in attempt %i leads to %j", (end, attempts, after) => {
  expect(decideEnd(job(attempts), end, [], 30_000)).toEqual(after);
});

test("a success without reports of some cases is tried again, and the error names them", () => {
  const success = { outcome: "success" } as const;
  const error =
    'collector lab-1 reported that all is measured, but neither values nor an error of "a", "b"';

  expect(decideEnd(job(1), success, ["a", "b"], 30_000)).toEqual({
    state: "queued",
    attempts: 1,
    afterMs: 30_000,
    error,
  });
  expect(decideEnd(job(3), success, ["a", "b"], 30_000)).toEqual({
    state: "failure",
    error: `given up after 3 attempts; the last one: ${error}`,
  });
});

test("a job that is returned again and again uses all its attempts", () => {
  const back = { outcome: "handed-back", why: "an update" } as const;
  let attempts = 0;
  let epoch = 0;
  for (; attempts < 3; epoch++) {
    expect(epoch).toBeLessThan(30);
    const after = decideEnd({ ...job(attempts + 1), epoch: epoch + 1 }, back, [], 0);
    attempts = after.state === "queued" ? after.attempts : 3;
  }
  expect(epoch).toBeGreaterThan(20);
});

test("the job of a silent collector is queued again until its attempts are used", () => {
  expect(decideSilence(job(2))).toMatchObject({ state: "queued", attempts: 2 });
  expect(decideSilence(job(3))).toMatchObject({ state: "failure" });
});

test.each([
  [
    { state: "queued", incarnation: null, attempts: 0 },
    { kind: "begin", attempts: 1 },
  ],
  [
    { state: "queued", incarnation: "me", attempts: 2 },
    { kind: "begin", attempts: 3 },
  ],
  [{ state: "queued", incarnation: null, attempts: 3 }, { kind: "fail" }],
  [{ state: "in-progress", incarnation: "me", attempts: 3 }, { kind: "repeat" }],
  [
    { state: "in-progress", incarnation: "before", attempts: 1 },
    { kind: "resume", attempts: 2 },
  ],
  [{ state: "in-progress", incarnation: "before", attempts: 3 }, { kind: "fail" }],
] as const)("a claim that finds the job %j decides %j", (found, expected) => {
  expect(decideClaim({ ...found, maxAttempts: 3 }, "me")).toMatchObject(expected);
});
