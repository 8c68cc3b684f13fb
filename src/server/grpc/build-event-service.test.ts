import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { systemClock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { pathOf } from "#grpc/method.ts";
import { type GrpcServer, grpcServer } from "#grpc/server.ts";
import { buildDetail } from "#invocations/build-events/build-detail.ts";
import {
  bazelEvent,
  brokenEvent,
  lastEvent,
  printed,
  sampleBuild,
  started,
} from "#invocations/build-events/build-events.fixture.ts";
import { printedLog } from "#invocations/build-events/build-log.store.ts";
import {
  type BuildEvent,
  BuildEventSchema,
  StreamId_BuildComponent as Component,
  StreamIdSchema,
} from "#proto/google/devtools/build/v1/build_events_pb.ts";
import { BuildStatus_Result } from "#proto/google/devtools/build/v1/build_status_pb.ts";
import {
  PublishBuildEvent,
  PublishBuildToolEventStreamRequestSchema,
  PublishBuildToolEventStreamResponseSchema,
  PublishLifecycleEventRequestSchema,
} from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { buildEventService } from "./build-event-service.ts";

const db = await freshDb();
const { publishBuildToolEventStream, publishLifecycleEvent } = PublishBuildEvent.method;

let server: GrpcServer;
let client: Client;
const blobs = memoryBlobStore();
const keptFor: string[] = [];

beforeEach(async () => {
  server = grpcServer({
    methods: buildEventService({
      db,
      clock: systemClock,
      logger: pino({ enabled: false }),
      async reporterOf({ metadata }, projectId) {
        if (metadata["x-deny"] !== undefined) throw new Fault("permission_denied", "not you");
        return { project: projectId || "default", principal: "ada" };
      },
      keepBlob: async (_context, project, { digest, bytes }) => {
        if (Buffer.from(bytes).equals(Buffer.from("not mine")))
          throw new Fault("permission_denied", "not you");
        await blobs.put(digest, bytes);
        keptFor.push(project);
      },
    }),
    graceMs: 2_000,
  });
  server.http2.listen(0, "127.0.0.1");
  await once(server.http2, "listening");
  const { port } = server.http2.address() as AddressInfo;
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
});
afterEach(async () => {
  client.close();
  await server.stop();
});

type Request = MessageInitShape<typeof PublishBuildToolEventStreamRequestSchema>;

let count = 0;
function streamId() {
  count += 1;
  const [buildId, invocationId] = [`build-${count}`, `invocation-${count}`];
  return create(StreamIdSchema, { buildId, invocationId, component: Component.TOOL });
}

function requestsOf(id: ReturnType<typeof streamId>, events: readonly BuildEvent[], from = 1) {
  return events.map(
    (event, index): Request => ({
      projectId: "team/app",
      notificationKeywords: ["user_keyword=branch=trunk"],
      orderedBuildEvent: { streamId: id, sequenceNumber: BigInt(from + index), event },
    }),
  );
}

/**
 * Sends all events at once, as a tool does; returns the acknowledged events and the end of the stream.
 *
 * Without `ends` the tool's side stays open, as during a build.
 */
function publish(
  requests: readonly Request[],
  { ends = true } = {},
): Promise<{ acks: number[]; code: number }> {
  const call = client.makeBidiStreamRequest(
    pathOf(publishBuildToolEventStream),
    (request: Request) =>
      Buffer.from(
        toBinary(
          PublishBuildToolEventStreamRequestSchema,
          create(PublishBuildToolEventStreamRequestSchema, request),
        ),
      ),
    (bytes: Buffer) => fromBinary(PublishBuildToolEventStreamResponseSchema, bytes),
  );
  const acks: number[] = [];
  call.on("data", ({ sequenceNumber }) => acks.push(Number(sequenceNumber)));
  for (const request of requests) call.write(request);
  if (ends) call.end();
  return new Promise((resolve) => {
    call.on("error", ({ code }: ServiceError) => resolve({ acks, code }));
    call.on("end", () => resolve({ acks, code: status.OK }));
  });
}

function lifecycle(request: MessageInitShape<typeof PublishLifecycleEventRequestSchema>) {
  return new Promise<number>((resolve) => {
    client.makeUnaryRequest(
      pathOf(publishLifecycleEvent),
      (init: typeof request) =>
        Buffer.from(
          toBinary(
            PublishLifecycleEventRequestSchema,
            create(PublishLifecycleEventRequestSchema, init),
          ),
        ),
      (bytes: Buffer) => bytes,
      request,
      (error) => resolve(error === null ? status.OK : error.code),
    );
  });
}

const detailOf = (id: { invocationId: string }) => buildDetail(db, "team/app", id.invocationId);

test("each event is answered in order, and what was told is there", async () => {
  const id = streamId();
  const events = sampleBuild();

  const { acks, code } = await publish(requestsOf(id, events));

  expect(code).toBe(status.OK);
  expect(acks).toEqual(events.map((_, index) => index + 1));
  expect(await detailOf(id)).toMatchObject({ complete: true });
});

test("a tool that sends all again is answered all again", async () => {
  const id = streamId();
  const requests = requestsOf(id, sampleBuild());
  await publish(requests);
  const before = await detailOf(id);

  const { acks, code } = await publish(requests);

  expect([acks.length, code]).toEqual([requests.length, status.OK]);
  expect(await detailOf(id)).toEqual(before);
});

test("a gap ends the stream with the code on which tools send again what was not answered", async () => {
  const id = streamId();
  const [first, ...others] = requestsOf(id, [started("build", []), printed("a"), printed("b")]);
  if (first === undefined) throw new Error("there is none");

  const { acks, code } = await publish([first, ...others.slice(1)]);

  expect({ acks, code }).toEqual({ acks: [1], code: status.ABORTED });
  expect(await publish(others)).toEqual({ acks: [2, 3], code: status.OK });
});

test("an event that cannot be read is answered and counted, and the others are kept", async () => {
  const id = streamId();
  const events = [started("build", []), printed("a"), brokenEvent(), printed("b"), brokenEvent()];

  const told = await publish(requestsOf(id, [...events, metrics(7n), lastEvent()]));

  expect(told).toEqual({ acks: [1, 2, 3, 4, 5, 6, 7], code: status.OK });
  const { bytes } = await printedLog(db, "team/app", id.invocationId, 0, 100);
  expect(Buffer.from(bytes).toString()).toBe("ab");
  expect(await detailOf(id)).toMatchObject({
    complete: true,
    unreadableEvents: 2,
    metrics: { actionsExecuted: 7 },
  });
});

test("files that an event holds itself are kept before it is answered, and named as blobs (Bazel 8)", async () => {
  const id = streamId();
  const event = bazelEvent({
    id: { id: { case: "targetCompleted", value: { label: "//a:a" } } },
    payload: {
      case: "completed",
      value: {
        success: true,
        outputGroup: [
          {
            name: "reports",
            inlineFiles: [inline("a/report.json", "{}"), inline("b", "not mine")],
          },
        ],
      },
    },
  });

  const told = await publish(requestsOf(id, [event, lastEvent()]));

  expect(told).toEqual({ acks: [1, 2], code: status.OK });
  const digest = digestOf(Buffer.from("{}"));
  expect((await detailOf(id))?.targets[0]?.outputs.slice(0, 1)).toMatchObject([
    { name: "a/report.json", blob: digestKey(digest), project: "team/app" },
  ]);
  expect(await blobs.get(digest)).toEqual(new Uint8Array(Buffer.from("{}")));
  expect(keptFor).toEqual(["team/app"]);
});

test("a tool that waits for its answers hears at once that one will not come", async () => {
  const [first, , third] = requestsOf(streamId(), [printed("a"), printed("b"), printed("c")]);
  const [unnamed] = requestsOf(streamId(), [printed("x")]);
  if (first === undefined || third === undefined) throw new Error("there is none");

  const ends = await Promise.all([
    publish([first, third], { ends: false }),
    publish([{ ...unnamed, orderedBuildEvent: {} } as Request], { ends: false }),
  ]);

  expect(ends).toEqual([
    { acks: [1], code: status.ABORTED },
    { acks: [], code: status.INVALID_ARGUMENT },
  ]);
});

test.each([
  { wrong: "no stream", change: { streamId: undefined } },
  { wrong: "a number below one", change: { sequenceNumber: 0n } },
  { wrong: "no invocation", change: { streamId: { buildId: "b", component: 3 } } },
  { wrong: "control characters", change: { streamId: { invocationId: "a\nb" } } },
  { wrong: "a worker's stream", change: { streamId: { invocationId: "a", component: 2 } } },
])("an event with $wrong is refused", async ({ change }) => {
  const [request] = requestsOf(streamId(), [printed("x")]);
  const ordered = { ...request?.orderedBuildEvent, ...change } as Request["orderedBuildEvent"];

  const told = await publish([{ ...request, orderedBuildEvent: ordered } as Request]);

  expect(told).toEqual({ acks: [], code: status.INVALID_ARGUMENT });
});

test("one stream tells of one invocation", async () => {
  const [one, other] = [streamId(), streamId()];

  const told = await publish([
    ...requestsOf(one, [printed("x")]),
    ...requestsOf(other, [printed("y")]),
  ]);

  expect(told).toEqual({ acks: [1], code: status.INVALID_ARGUMENT });
});

test("the frame around the events is taken, told before them or after, and twice", async () => {
  const id = streamId();
  const frame = (event: MessageInitShape<typeof BuildEventSchema>["event"]) =>
    lifecycle({
      projectId: "team/app",
      notificationKeywords: ["user_keyword=commit=0123456789abcdef0123456789abcdef01234567"],
      buildEvent: {
        streamId: { ...id, component: Component.CONTROLLER },
        sequenceNumber: 1n,
        event: create(BuildEventSchema, { event: event ?? { case: undefined } }),
      },
    });
  const over = {
    case: "invocationAttemptFinished" as const,
    value: { invocationStatus: { result: BuildStatus_Result.COMMAND_SUCCEEDED } },
  };

  expect(await frame({ case: "buildEnqueued", value: {} })).toBe(status.OK);
  expect(await frame({ case: "invocationAttemptStarted", value: {} })).toBe(status.OK);
  expect((await publish(requestsOf(id, [started("build", []), lastEvent()]))).code).toBe(status.OK);
  expect(await frame(over)).toBe(status.OK);
  expect(await frame(over)).toBe(status.OK);

  expect(await detailOf(id)).toMatchObject({ complete: true });
});

test("a tool's own event is refused as a frame", async () => {
  const told = lifecycle({
    projectId: "p",
    buildEvent: { streamId: streamId(), sequenceNumber: 1n, event: printed("x") },
  });

  expect(await told).toBe(status.INVALID_ARGUMENT);
});

test("two thousand events arrive in few transactions, each answered", async () => {
  const id = streamId();
  const events = [
    started("build", []),
    ...Array.from({ length: 2_000 }, (_, i) => printed(`line ${i}\n`)),
    lastEvent(),
  ];

  const { acks, code } = await publish(requestsOf(id, events));

  expect([acks.length, acks.at(-1), code]).toEqual([2_002, 2_002, status.OK]);
  const { bytes } = await printedLog(db, "team/app", id.invocationId, 0, 1e6);
  expect(Buffer.from(bytes).toString().split("\n")).toHaveLength(2_001);
});

function inline(name: string, text: string) {
  return { name, file: { case: "contents" as const, value: Buffer.from(text) } };
}

function metrics(actionsExecuted: bigint) {
  return bazelEvent({
    payload: { case: "buildMetrics", value: { actionSummary: { actionsExecuted } } },
  });
}
