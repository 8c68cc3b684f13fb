import { expect, test } from "vitest";
import { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { FinishedExecution } from "#execution/finishing/finished-execution.ts";
import { spansOfExecution } from "./spans-of-execution.ts";

const id = ExecutionId.parse("00000000-0000-4000-8000-000000000001");
const span = {
  id,
  title: "build",
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  parentId: null,
};
const finished: FinishedExecution = {
  id,
  project: "default",
  domain: protectedDomain,
  actionDigest: Digest.parse({ hash: "a".repeat(64), sizeBytes: 3 }),
  invocation: "graph",
  doNotCache: false,
  attempt: 2,
  worker: "attic",
  queuedAt: new Date(1_000),
  leasedAt: new Date(1_500),
  startedAt: new Date(1_600),
  reportedAt: new Date(2_000),
  finishedAt: new Date(2_100),
  outcome: "failed",
  exitCode: 3,
  result: undefined,
  message: "cannot read /home/me/secret",
  missingInputs: [],
  usage: undefined,
};

test("an execution is a span with its time in the queue and the time to store its result below it", () => {
  const spans = spansOfExecution(finished, span);

  expect(spans.map(({ name, startMs, endMs }) => ({ name, startMs, endMs }))).toEqual([
    { name: "execution", startMs: 1_000, endMs: 2_100 },
    { name: "queue", startMs: 1_000, endMs: 1_500 },
    { name: "store result", startMs: 2_000, endMs: 2_100 },
  ]);
  expect(spans.map(({ place }) => place.parentId)).toEqual([null, span.spanId, span.spanId]);
  expect(spans[0]).toMatchObject({
    failure: "failed",
    attributes: { "grange.worker": "attic", "grange.attempt": 2, "grange.exit_code": 3 },
  });
});

test("the message of an execution, which may contain names of files, is in no span", () => {
  expect(JSON.stringify(spansOfExecution(finished, span))).not.toContain("secret");
});

test("an execution that was cancelled in the queue was in the queue until its end", () => {
  const { reportedAt: _, ...rest } = finished;
  const cancelled = { ...rest, leasedAt: undefined, worker: undefined, exitCode: undefined };

  const spans = spansOfExecution({ ...cancelled, outcome: "cancelled" }, span);

  expect(spans.map(({ name, endMs }) => ({ name, endMs }))).toEqual([
    { name: "execution", endMs: 2_100 },
    { name: "queue", endMs: 2_100 },
  ]);
});

test("a report whose time is outside of the execution, because clocks differ, is moved into it", () => {
  const [, , stored] = spansOfExecution({ ...finished, reportedAt: new Date(9_000) }, span);

  expect(stored).toMatchObject({ startMs: 2_100, endMs: 2_100 });
});
