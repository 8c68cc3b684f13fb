import { toLoneDigest } from "#commit-index/lone-digest.ts";
import { Fault } from "#core/fault.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { type FetchResponse, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { fetchedThings, requestText } from "./fetched-things.ts";
import type { FetchedThing, FetchRequest } from "./granary-farm.ts";
import type { LineMeter } from "./line-meter.ts";
import { isUnimplemented, type ServiceSeen } from "./service-seen.ts";

interface FetchParts {
  readonly channel: () => GrpcChannel;
  readonly circuit: Pick<CircuitBreaker, "failed" | "succeeded">;
  readonly meter: Pick<LineMeter, "came">;
  readonly service: ServiceSeen;
}

const mostRequestsPerCall = 10_000;

/** A stream without data for this time is given up; the data received so far is kept. */
const silenceMs = 15_000;

/**
 * A reader that takes longer than this for a message, in ms, pauses on purpose, because the build sends a request
 * itself.
 */
const pauseMs = 100;

/** Reads one stream after the other, as many as the requests need. */
export async function* fetchFrom(
  parts: FetchParts,
  project: string,
  requests: readonly FetchRequest[],
  signal: AbortSignal,
): AsyncGenerator<FetchedThing, void, undefined> {
  const all = [...new Map(requests.map((request) => [requestText(request), request])).values()];
  for (let at = 0; at < all.length; at += mostRequestsPerCall) {
    yield* oneStream(parts, project, all.slice(at, at + mostRequestsPerCall), signal);
  }
}

async function* oneStream(
  { channel, circuit, meter, service }: FetchParts,
  project: string,
  requests: readonly FetchRequest[],
  signal: AbortSignal,
): AsyncGenerator<FetchedThing, void, undefined> {
  if (service.isMissing()) return yield* allAbsent(requests);
  const fetched = fetchedThings(project, requests);
  const silence = new AbortController();
  const request = { instanceName: project, items: requests.map(itemOf) };
  const responses = channel()
    .serverStream(Granaries.method.fetch, request, {
      signal: AbortSignal.any([signal, silence.signal]),
    })
    [Symbol.asyncIterator]();
  let sample = { bytes: 0, ms: 0 };
  let isFirst = true;
  try {
    for (;;) {
      const requestedAtMs = performance.now();
      const next = await unlessSilent(responses.next(), silence);
      if (next.done) {
        yield* fetched.rest();
        return;
      }
      circuit.succeeded();
      const things = await fetched.in(next.value);
      // The farm searches before it sends the first message, so the time until then does not count.
      if (!isFirst) sample.ms += performance.now() - requestedAtMs;
      if (!isFirst) sample.bytes += next.value.unpackedBytes;
      isFirst = false;
      const given = performance.now();
      yield* things;
      const heldMs = performance.now() - given;
      if (heldMs < pauseMs) sample.ms += heldMs;
      if (heldMs >= pauseMs || sample.bytes > 1_048_576) {
        meter.came(sample.bytes, sample.ms);
        sample = { bytes: 0, ms: 0 };
      }
    }
  } catch (reason) {
    if (isUnimplemented(reason)) {
      service.noteMissing();
      return yield* allAbsent(requests);
    }
    if (!signal.aborted) circuit.failed(reason);
    throw reason;
  } finally {
    meter.came(sample.bytes, sample.ms);
    await responses.return(undefined).catch(() => {});
  }
}

async function unlessSilent(
  next: Promise<IteratorResult<FetchResponse, void>>,
  silence: AbortController,
): Promise<IteratorResult<FetchResponse, void>> {
  const timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    return await next;
  } catch (reason) {
    if (!silence.signal.aborted) throw reason;
    throw new Fault("deadline_exceeded", `the farm's stream was silent for ${silenceMs} ms`, {
      cause: reason,
    });
  } finally {
    clearTimeout(timer);
  }
}

function* allAbsent(requests: readonly FetchRequest[]): Generator<FetchedThing> {
  for (const request of requests) yield { kind: "absent", request };
}

function itemOf(request: FetchRequest) {
  return request.kind === "result"
    ? {
        item: {
          case: "result" as const,
          value: { namespace: request.key.namespace, key: request.key.key },
        },
      }
    : { item: { case: "blob" as const, value: toLoneDigest(request.digest) } };
}
