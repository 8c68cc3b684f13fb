import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import type { TestStatus } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { BuildEventSchema } from "#proto/google/devtools/build/v1/build_events_pb.ts";
import { bazelEvent, brokenEvent, sampleBuild, unknownEvent } from "./build-events.fixture.ts";
import { readBuildEvent } from "./read-build-event.ts";

const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

function claimed(value: Uint8Array, url = typeUrl) {
  return create(BuildEventSchema, {
    event: { case: "bazelEvent", value: { typeUrl: url, value } },
  });
}

function codeOfReading(bytes: Uint8Array): string {
  try {
    for (const news of readBuildEvent(claimed(bytes))) JSON.stringify(news);
    return "read";
  } catch (reason) {
    return reason instanceof Fault ? reason.code : String(reason);
  }
}

test("what is no event is refused; what nobody knows is skipped", () => {
  expect(() => readBuildEvent(brokenEvent())).toThrow(Fault);
  expect(readBuildEvent(unknownEvent())).toEqual([]);
  expect(readBuildEvent(undefined)).toEqual([]);
  expect(readBuildEvent(claimed(Buffer.from("x"), "type.googleapis.com/buck.data.Event"))).toEqual(
    [],
  );
});

test("whatever bytes come as an event are read, or refused as the caller's mistake", () => {
  const valid = sampleBuild().flatMap(({ event }) =>
    event.case === "bazelEvent" ? [event.value.value] : [],
  );
  const damaged = fc
    .tuple(fc.constantFrom(...valid), fc.nat(), fc.integer({ min: 0, max: 255 }))
    .map(([bytes, at, byte]) => {
      const copy = Uint8Array.from(bytes);
      if (copy.length > 0) copy[at % copy.length] = byte;
      return copy;
    });
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      expect(codeOfReading(bytes)).toMatch(/^(read|invalid_argument)$/);
    }),
    { numRuns: 2_000 },
  );
});

test("times, counts and sizes that cannot be become such as can", () => {
  const event = bazelEvent({
    id: {
      id: { case: "testResult", value: { label: "//:t", run: -1, shard: -2, attempt: 1 } },
    },
    payload: {
      case: "testResult",
      value: {
        status: 77 as TestStatus,
        testAttemptStart: { seconds: 9_000_000_000_000n, nanos: 0 },
        testAttemptDuration: { seconds: -5n, nanos: 0 },
      },
    },
  });

  expect(readBuildEvent(event)).toMatchObject([
    { run: 0, shard: 0, status: "NO_STATUS", startedAt: undefined, durationMs: 0 },
  ]);
});

test("an event of thousands of files is read in part", () => {
  const name = "x".repeat(10);
  const file = { name, file: { case: "uri" as const, value: "file:///x" } };
  const event = bazelEvent({
    id: { id: { case: "namedSet", value: { id: "0" } } },
    payload: {
      case: "namedSetOfFiles",
      value: { files: Array.from({ length: 5_000 }, () => file) },
    },
  });
  expect(toBinary(BuildEventSchema, event).length).toBeGreaterThan(100_000);

  const [news] = readBuildEvent(event);

  expect(news?.kind === "fileSet" && news.files.length).toBe(256);
});

test("a failed action tells why in one paragraph, without Bazel's advice", () => {
  const event = bazelEvent({
    id: { id: { case: "actionCompleted", value: { label: "//:bad" } } },
    payload: {
      case: "action",
      value: {
        type: "Genrule",
        exitCode: 1,
        failureDetail: { message: "bash failed: exit 3\n\nUse --sandbox_debug to see more" },
      },
    },
  });

  expect(readBuildEvent(event)).toEqual([
    { kind: "failure", sentence: "//:bad Genrule: bash failed: exit 3" },
  ]);
});
