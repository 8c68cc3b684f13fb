import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import {
  ActionResultSchema,
  ExecutedActionMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FinishedSchema, Outcome, WorkSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { activeTraceparent } from "#tracing/active-span.ts";
import type { EndedSpan } from "#tracing/tracing.ts";
import type { Executed } from "./execute-action.ts";
import { asWorkerSpans, spansOfWork } from "./worker-spans.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const work = create(WorkSchema, {
  project: "default",
  lease: { executionId: "one", attempt: 1, epoch: 1n },
  traceparent: `00-${traceId}-${parentId}-01`,
});
const lost: Executed = { kind: "lost" };

function collecting() {
  const spans: EndedSpan[] = [];
  return { spans, tracing: { record: (span: EndedSpan) => void spans.push(span) } };
}

test("work is a span below its execution, and its calls carry that span", async () => {
  const { spans, tracing } = collecting();
  let carried: string | undefined;

  await asWorkerSpans(tracing, work, async () => {
    await Promise.resolve();
    carried = activeTraceparent();
    return lost;
  });

  expect(spans).toMatchObject([{ name: "work", failure: "lost", place: { traceId, parentId } }]);
  expect(carried).toBe(`00-${traceId}-${spans[0]?.place.spanId}-01`);
  expect(activeTraceparent()).toBeUndefined();
});

test.each(["", "garbage", `00-${traceId}-${parentId}-00`])(
  "work whose traceparent is %j has no span, and its calls carry none",
  async (traceparent) => {
    const { spans, tracing } = collecting();

    await asWorkerSpans(tracing, { ...work, traceparent }, async () => {
      expect(activeTraceparent()).toBeUndefined();
      return lost;
    });

    expect(spans).toEqual([]);
  },
);

test("the phases of work come from the times in its result, and stay within the work", () => {
  const at = (ms: number) => timestampFromMs(ms);
  const executionMetadata = create(ExecutedActionMetadataSchema, {
    workerStartTimestamp: at(1_000),
    inputFetchStartTimestamp: at(1_010),
    inputFetchCompletedTimestamp: at(1_050),
    executionStartTimestamp: at(1_060),
    executionCompletedTimestamp: at(1_500),
    outputUploadStartTimestamp: at(1_500),
    outputUploadCompletedTimestamp: at(9_999),
  });
  const finished = create(FinishedSchema, {
    outcome: Outcome.SUCCEEDED,
    result: create(ActionResultSchema, { executionMetadata }),
  });
  const place = { traceId, spanId: parentId, parentId: null };

  const spans = spansOfWork({ kind: "finished", finished }, work, {
    place,
    startMs: 1_000,
    endMs: 1_600,
  });

  expect(spans.map(({ name, startMs, endMs }) => [name, startMs, endMs])).toEqual([
    ["work", 1_000, 1_600],
    ["prepare sandbox", 1_000, 1_010],
    ["fetch inputs", 1_010, 1_050],
    ["run", 1_060, 1_500],
    ["upload outputs", 1_500, 1_600],
  ]);
});
