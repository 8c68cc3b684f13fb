import { expect, test } from "vitest";
import { checkHistory, type Observation, type Violation } from "./history.ts";

const graph = "g1";
const read = (state: string, jobs: Record<string, string> = {}): Observation => ({
  kind: "read",
  graph,
  state,
  jobs,
});
const result = (log: string, output: string | undefined = "t1\n"): Observation => ({
  kind: "result",
  graph,
  job: "a",
  log,
  output,
});
const whole = result("begin t1\nsomething\nend t1\n");
const good: readonly Observation[] = [
  { kind: "submitted", graph },
  read("running", { a: "running", b: "waiting" }),
  read("running", { a: "succeeded", b: "running" }),
  read("succeeded", { a: "succeeded", b: "succeeded" }),
  whole,
  whole,
  { kind: "uploaded", blob: "b1" },
  { kind: "blob", blob: "b1", bytes: "whole" },
  // Nobody was told that the farm has this one.
  { kind: "blob", blob: "b2", bytes: "absent" },
];

test("a correct history violates no promise", () => {
  expect(checkHistory(good)).toEqual([]);
});

/** Histories that each violate a promise, as a farm with a known bug would cause them. */
const bad: readonly [string, readonly Observation[], Violation["promise"]][] = [
  ["an accepted graph is lost", [...good, { kind: "not-found", graph }], "P1"],
  ["an accepted graph is never heard of again", [{ kind: "submitted", graph }], "P1"],
  ["an ended job runs again", [...good, read("succeeded", { a: "running" })], "P3"],
  ["an ended graph changes its end", [...good, read("failed")], "P3"],
  ["a log has two executions", [...good, result("begin t1\nbegin t2\nend t2\n", "t2")], "P2"],
  ["a log is cut short", [...good, result("begin t1\n")], "P2"],
  ["a log is put together from two executions", [result("begin t1\nend t2\n")], "P2"],
  ["a second attempt replaces a result", [...good, result("begin t2\nend t2\n", "t2")], "P2"],
  ["an output is another execution's", [result("begin t1\nend t1\n", "t9")], "P5"],
  ["a result has lost its output", [{ ...whole, output: undefined } as Observation], "P6"],
  [
    "a graph hangs after the faults",
    [
      { kind: "submitted", graph },
      { kind: "gave-up", graph },
    ],
    "P8",
  ],
];

test.each(bad)("%s", (_, history, promise) => {
  expect(checkHistory(history).map((violation) => violation.promise)).toContain(promise);
});

const execution = "e1";
const lease = (epoch: number, process: string, at: number, attempt = epoch): Observation => ({
  kind: "handed-out",
  execution,
  attempt,
  epoch,
  process,
  at,
});
const kept = (epoch: number, sentAt: number): Observation => ({
  kind: "kept",
  execution,
  epoch,
  sentAt,
});
const verdict = (
  epoch: number,
  token: string,
  outcome = "succeeded",
  answer: "accepted" | "refused" = "accepted",
): Observation => ({ kind: "verdict", execution, epoch, outcome, token, verdict: answer });
const ended = (outcome: string, token: string | undefined, attempt = 1): Observation => ({
  kind: "ended",
  request: "r1",
  execution,
  outcome,
  attempt,
  token,
});
const accepted: Observation = { kind: "accepted", request: "r1", execution };
const letGo: Observation = { kind: "let-go", execution, epoch: 1 };

/** The lease of these histories is 15 s, of which the last answer to a heartbeat promises the rest. */
const goodExecutions: readonly [string, readonly Observation[]][] = [
  [
    "one attempt",
    [accepted, lease(1, "w1", 0), kept(1, 5_000), verdict(1, "t1"), ended("succeeded", "t1")],
  ],
  [
    "a lease that ran out, and a late report that is refused",
    [
      accepted,
      lease(1, "w1", 0),
      kept(1, 5_000),
      lease(2, "w2", 20_000),
      verdict(1, "t1", "succeeded", "refused"),
      verdict(2, "t2"),
      ended("succeeded", "t2", 2),
    ],
  ],
  [
    "a lease that was given back early",
    [
      accepted,
      lease(1, "w1", 0),
      kept(1, 5_000),
      letGo,
      lease(2, "w2", 5_100),
      verdict(2, "t2"),
      ended("succeeded", "t2", 2),
    ],
  ],
  [
    "as many attempts as allowed",
    [
      accepted,
      ...[1, 2, 3, 4, 5].map((n) => lease(n, `w${n}`, n * 20_000)),
      ended("worker_lost", undefined, 5),
    ],
  ],
  [
    "a cancelled execution",
    [accepted, lease(1, "w1", 0), { kind: "cancelled", execution }, ended("cancelled", undefined)],
  ],
];

test.each(goodExecutions)(
  "a correct history of an execution violates no promise: %s",
  (_, history) => {
    expect(checkHistory(history)).toEqual([]);
  },
);

const badExecutions: readonly [string, readonly Observation[], Violation["promise"]][] = [
  ["an accepted request never ends", [accepted], "P1"],
  [
    "an accepted request is unknown",
    [accepted, { kind: "unknown", request: "r1", execution }],
    "P1",
  ],
  ["it is cancelled, and nobody asked", [accepted, ended("cancelled", undefined)], "P1"],
  ["one epoch has two processes", [lease(1, "w1", 0), lease(1, "w2", 90_000)], "P2"],
  [
    "a lease is given away before its end",
    [lease(1, "w1", 0), kept(1, 5_000), lease(2, "w2", 10_000)],
    "P2",
  ],
  ["two successes are accepted", [lease(1, "w1", 0), verdict(1, "t1"), verdict(1, "t2")], "P2"],
  [
    "a late report is accepted",
    [lease(1, "w1", 0), lease(2, "w2", 90_000), verdict(1, "t1")],
    "P2",
  ],
  [
    "it runs again after its success",
    [lease(1, "w1", 0), verdict(1, "t1"), lease(2, "w2", 90_000)],
    "P2",
  ],
  [
    "a success is accepted after the end",
    [accepted, ended("failed", "t9"), verdict(1, "t1")],
    "P2",
  ],
  ["the result is another attempt's", [accepted, verdict(2, "t2"), ended("succeeded", "t1")], "P2"],
  ["the end changes", [accepted, ended("succeeded", "t1"), ended("failed", undefined)], "P3"],
  ["there are too many attempts", [6].map((n) => lease(n, "w1", n * 90_000)), "attempts"],
  ["it is given up too early", [accepted, ended("worker_lost", undefined, 2)], "attempts"],
];

test.each(badExecutions)("of an execution: %s", (_, history, promise) => {
  expect(checkHistory(history).map((violation) => violation.promise)).toContain(promise);
});

const jobs = [{ graph, job: "b" }];
const submitted: Observation = {
  kind: "submitted",
  graph,
  needs: { b: ["a"] },
  timers: { later: 60_000 },
  notifies: ["a"],
  at: 0,
};
const succeeded = (job: string, at: number): Observation => ({
  kind: "read",
  graph,
  state: "running",
  jobs: { [job]: "succeeded" },
  at,
});
const notified = (id: string): Observation => ({ kind: "notified", graph, job: "a", run: 1, id });

const badOthers: readonly [string, readonly Observation[], Violation["promise"]][] = [
  [
    "a job runs before the job that it needs",
    [submitted, { ...lease(1, "w1", 0), jobs } as Observation],
    "edges",
  ],
  ["a timer is early", [submitted, succeeded("later", 30_000)], "edges"],
  ["a receiver is not notified", [submitted, succeeded("a", 10)], "P4"],
  [
    "a receiver gets two notifications of one run",
    [submitted, notified("n1"), notified("n2")],
    "P4",
  ],
  [
    "a graph is cancelled, and nobody asked",
    [submitted, { ...read("cancelled"), at: 5 } as Observation],
    "P1",
  ],
  [
    "an acknowledged blob is lost",
    [
      { kind: "uploaded", blob: "b1" },
      { kind: "blob", blob: "b1", bytes: "absent" },
    ],
    "P1",
  ],
  ["a blob is served with other bytes", [{ kind: "blob", blob: "b1", bytes: "other" }], "P5"],
  ["an acknowledged blob was never read", [{ kind: "uploaded", blob: "b1" }], "P1"],
];

test.each(badOthers)("of edges, notifications and blobs: %s", (_, history, promise) => {
  expect(checkHistory(history).map((violation) => violation.promise)).toContain(promise);
});
