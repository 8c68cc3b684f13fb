import type { Logger } from "pino";
import { batchesOf } from "#caches/rev2/batches-of.ts";
import type { Clock } from "#core/clock.ts";
import type { Digest } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { isKeepable } from "#core/keepable-text.ts";
import type { Db } from "#db/db.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import type { BuildUpdate } from "#invocations/build-events/build-update.ts";
import {
  type BuildTeller,
  keepBuildEvents,
  keepLifecycle,
  type NumberedUpdate,
  noteStreamOpen,
} from "#invocations/build-events/keep-build-events.ts";
import { readBuildEvent, readKeywords } from "#invocations/build-events/read-build-event.ts";
import {
  type BuildEvent,
  StreamId_BuildComponent as Component,
  type StreamId,
} from "#proto/google/devtools/build/v1/build_events_pb.ts";
import {
  PublishBuildEvent,
  type PublishBuildToolEventStreamRequest,
  type PublishLifecycleEventRequest,
} from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";

interface BuildEventServiceParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Throws when the caller may not report builds there. `projectId` is the name in the request, which may be empty. */
  readonly reporterOf: (
    context: CallContext,
    projectId: string,
  ) => Promise<{ readonly project: string; readonly principal: string }>;
  /**
   * Records the connection of a stream: when the last one of an invocation closes without the end of its events, its
   * tool has left.
   */
  readonly heard?: (teller: BuildTeller, peer: string) => void;
  /** Stores the content of an event as a blob of the project. */
  readonly keepBlob: (
    context: CallContext,
    project: string,
    blob: { readonly digest: Digest; readonly bytes: Uint8Array },
  ) => Promise<void>;
}

/** These updates are stored in one transaction. */
const batch = {
  most: 256,
  mostWeight: 1_048_576,
  weigh: ({ orderedBuildEvent }: PublishBuildToolEventStreamRequest) => {
    const event = orderedBuildEvent?.event?.event;
    return event?.case === "bazelEvent" ? event.value.value.length : 0;
  },
};

/** How often an open stream is recorded, well below the time that counts as silence. */
const noteEveryMs = 30_000;

/** The Build Event Protocol: stores the events of build tools. An event is acknowledged once it is stored. */
export function buildEventService(parts: BuildEventServiceParts): Method[] {
  return methodsOf(PublishBuildEvent, {
    publishLifecycleEvent: (request, context) => publishLifecycle(request, context, parts),
    publishBuildToolEventStream: (requests, context) => publishStream(requests, context, parts),
  });
}

async function publishLifecycle(
  request: PublishLifecycleEventRequest,
  context: CallContext,
  parts: BuildEventServiceParts,
) {
  const { streamId, event } = request.buildEvent ?? {};
  switch (event?.event.case) {
    case "bazelEvent":
    case "consoleOutput":
    case "componentStreamFinished":
      throw new Fault(
        "invalid_argument",
        "send the events of a build tool with PublishBuildToolEventStream",
      );
    case "invocationAttemptStarted":
    case "invocationAttemptFinished": {
      const teller = await tellerOf(streamId, request.projectId, context, parts);
      const news = [...readKeywords(request.notificationKeywords), ...readBuildEvent(event)];
      await keepLifecycle(parts.db, teller, news, parts.clock.now());
      return {};
    }
    // Grange identifies a build with its invocation; the surrounding events contain nothing more.
    case "buildEnqueued":
    case "buildFinished":
    case undefined:
      await parts.reporterOf(context, request.projectId);
      return {};
  }
}

async function* publishStream(
  requests: AsyncIterable<PublishBuildToolEventStreamRequest>,
  context: CallContext,
  parts: BuildEventServiceParts,
) {
  const { db, clock } = parts;
  let stream: { readonly id: StreamId; readonly teller: BuildTeller } | undefined;
  let noting: NodeJS.Timeout | undefined;
  try {
    for await (const messages of batchesOf(requests, batch)) {
      const [first] = messages;
      if (stream === undefined) {
        const id = streamIn(first?.orderedBuildEvent?.streamId);
        const teller = await tellerOf(id, first?.projectId ?? "", context, parts);
        parts.heard?.(teller, context.peer);
        noting = setInterval(() => void note(teller, parts), noteEveryMs);
        stream = { id, teller };
      }
      const { id, teller } = stream;
      const { events, fault } = readEvents(messages, { id, teller }, parts);
      await keepBlobs(events, teller, context, parts);
      const answered =
        events.length === 0 ? 0 : await keepBuildEvents(db, teller, events, clock.now());
      for (const { sequence } of events.slice(0, answered)) {
        yield { streamId: id, sequenceNumber: BigInt(sequence) };
      }
      const gap = events[answered];
      if (gap !== undefined) {
        // With this code, tools retry from the first unanswered event.
        throw new Fault(
          "aborted",
          `event ${gap.sequence} of invocation ${teller.invocation} arrived before the event before it; send the events again in order`,
        );
      }
      if (fault !== undefined) throw fault;
    }
  } finally {
    clearInterval(noting);
  }
}

/** Returns the events up to the first one that does not belong to this stream, and the problem with that one. */
function readEvents(
  messages: readonly PublishBuildToolEventStreamRequest[],
  { id, teller }: { readonly id: StreamId; readonly teller: BuildTeller },
  { logger }: BuildEventServiceParts,
): { readonly events: NumberedUpdate[]; readonly fault: unknown } {
  const events: NumberedUpdate[] = [];
  for (const { orderedBuildEvent: ordered, notificationKeywords } of messages) {
    try {
      const own = streamIn(ordered?.streamId);
      if (own.invocationId !== id.invocationId || own.buildId !== id.buildId) {
        throw new Fault(
          "invalid_argument",
          "a stream must have events of one invocation, and this one names two",
        );
      }
      const sequence = Number(ordered?.sequenceNumber ?? 0n);
      if (sequence < 1 || !Number.isSafeInteger(sequence)) {
        throw new Fault(
          "invalid_argument",
          `the event has the number ${sequence}; events are numbered from 1`,
        );
      }
      const keywords = sequence === 1 ? readKeywords(notificationKeywords) : [];
      events.push({
        sequence,
        news: [...keywords, ...readUpdates(ordered?.event, teller, logger)],
      });
    } catch (fault) {
      return { events, fault };
    }
  }
  return { events, fault: undefined };
}

/**
 * Returns the updates of an event. An unreadable event is acknowledged like the others, and counted: after
 * INVALID_ARGUMENT, Bazel drops all later events; after any other code, it sends the same event again.
 */
function readUpdates(
  event: BuildEvent | undefined,
  { project, invocation }: BuildTeller,
  logger: Logger,
): BuildUpdate[] {
  try {
    return readBuildEvent(event, project);
  } catch (reason) {
    logger.warn({ invocation, reason: messageOf(reason) }, "a build event could not be read");
    return [{ kind: "unreadable" }];
  }
}

/** Stores the blobs that events name, before the events are acknowledged. */
async function keepBlobs(
  events: readonly NumberedUpdate[],
  { project }: BuildTeller,
  context: CallContext,
  { keepBlob }: BuildEventServiceParts,
): Promise<void> {
  const blobs = events.flatMap(({ news }) => news.filter((one) => one.kind === "blob"));
  await mapAtMost(8, blobs, async (blob) => {
    try {
      await keepBlob(context, project, blob);
    } catch (reason) {
      // The caller may report builds there but not create the project: the file has a name but no content.
      if (!(reason instanceof Fault) || reason.code !== "permission_denied") throw reason;
    }
  });
}

function streamIn(id: StreamId | undefined): StreamId {
  if (id === undefined) throw new Fault("invalid_argument", "an event must name its stream");
  if (id.component !== Component.TOOL && id.component !== Component.UNKNOWN_COMPONENT) {
    throw new Fault(
      "invalid_argument",
      "only the event stream of the build tool (component TOOL) is accepted",
    );
  }
  return id;
}

async function tellerOf(
  id: StreamId | undefined,
  projectId: string,
  context: CallContext,
  parts: BuildEventServiceParts,
): Promise<BuildTeller> {
  const { invocationId: invocation = "", buildId = "" } = id ?? {};
  const isName = (name: string) => name.length <= 200 && !/\p{Cc}/u.test(name) && isKeepable(name);
  if (invocation === "" || !isName(invocation) || !isName(buildId)) {
    throw new Fault(
      "invalid_argument",
      "an event must name its invocation, with at most 200 characters and without control characters",
    );
  }
  return { ...(await parts.reporterOf(context, projectId)), invocation, buildId };
}

async function note(teller: BuildTeller, { db, clock, logger }: BuildEventServiceParts) {
  try {
    await noteStreamOpen(db, teller, clock.now());
  } catch (reason) {
    logger.warn(
      { reason: messageOf(reason) },
      "that a stream of build events is open was not noted",
    );
  }
}
