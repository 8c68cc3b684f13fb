import { toDigestMessage } from "#cas/digest-message.ts";
import { functionByLength, functionOf, hexOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { GrpcChannel } from "#grpc/channel.ts";
import { type FetchResponse, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { fetchedThings } from "./fetched-things.ts";
import type { FetchedThing, FetchWish } from "./granary-farm.ts";
import type { LineMeter } from "./line-meter.ts";
import { isUnimplemented, type ServiceSeen } from "./service-seen.ts";

export interface FetchParts {
  readonly channel: () => GrpcChannel;
  readonly circuit: Pick<CircuitBreaker, "failed" | "succeeded">;
  readonly meter: Pick<LineMeter, "came">;
  readonly service: ServiceSeen;
}

const mostWishesPerCall = 10_000;

/** A stream over which nothing comes for so long is given up; what came of it stays. */
const silenceMs = 15_000;

/** Who takes longer over a message holds the stream on purpose: a build asks for something itself. */
const pauseMs = 100;

/** One stream after the other, as many as the wishes need. */
export async function* fetchFrom(
  parts: FetchParts,
  project: string,
  wishes: readonly FetchWish[],
  signal: AbortSignal,
): AsyncGenerator<FetchedThing, void, undefined> {
  const { sendable, others } = bySendable(wishes);
  for (const wish of others) yield { kind: "absent", wish };
  for (let at = 0; at < sendable.length; at += mostWishesPerCall) {
    yield* oneStream(parts, project, sendable.slice(at, at + mostWishesPerCall), signal);
  }
}

async function* oneStream(
  { channel, circuit, meter, service }: FetchParts,
  project: string,
  wishes: readonly FetchWish[],
  signal: AbortSignal,
): AsyncGenerator<FetchedThing, void, undefined> {
  if (service.isMissing()) return yield* allAbsent(wishes);
  const fetched = fetchedThings(project, wishes);
  const silence = new AbortController();
  const request = { instanceName: project, items: wishes.map(itemOf) };
  const responses = channel()
    .serverStream(Granaries.method.fetch, request, {
      signal: AbortSignal.any([signal, silence.signal]),
    })
    [Symbol.asyncIterator]();
  let sample = { bytes: 0, ms: 0 };
  let isFirst = true;
  try {
    for (;;) {
      const asked = performance.now();
      const next = await unlessSilent(responses.next(), silence);
      if (next.done) {
        yield* fetched.rest();
        return;
      }
      circuit.succeeded();
      const things = await fetched.in(next.value);
      // Until the first came, the farm was looking for it.
      if (!isFirst) sample.ms += performance.now() - asked;
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
      return yield* allAbsent(wishes);
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

function* allAbsent(wishes: readonly FetchWish[]): Generator<FetchedThing> {
  for (const wish of wishes) yield { kind: "absent", wish };
}

/** The protocol says no function with a blob: those whose hash's length does not tell it are got one by one. */
function bySendable(wishes: readonly FetchWish[]) {
  const sendable: FetchWish[] = [];
  const others: FetchWish[] = [];
  const seen = new Set<string>();
  for (const wish of wishes) {
    const isTold =
      wish.kind === "result" || functionByLength(hexOf(wish.digest)) === functionOf(wish.digest);
    const text = JSON.stringify(wish);
    if (seen.has(text)) continue;
    seen.add(text);
    (isTold ? sendable : others).push(wish);
  }
  return { sendable, others };
}

function itemOf(wish: FetchWish) {
  return wish.kind === "result"
    ? {
        item: {
          case: "result" as const,
          value: { namespace: wish.key.namespace, key: wish.key.key },
        },
      }
    : { item: { case: "blob" as const, value: toDigestMessage(wish.digest) } };
}
