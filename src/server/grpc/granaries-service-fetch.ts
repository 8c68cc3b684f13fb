import { packBytes, packsOf } from "#granaries/fetch-order.ts";
import { encodeFetched, packedResponse } from "#granaries/fetched-message.ts";
import type { Granaries as FarmsGranaries } from "#granaries/open-granaries.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { decodeInTurns } from "#grpc/decode-request.ts";
import { type Method, rawMethod, type ServerCall } from "#grpc/method.ts";
import { FetchRequestSchema, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";

/**
 * The streaming method Fetch.
 *
 * While one pack is being sent, only the next one is read: for a slow reader, two packs are in memory. Each pack is
 * read when its connection gets its turn, so that prefetching does not delay other builds.
 */
export function fetchMethod(readerOf: ReaderOf): Method {
  return rawMethod(Granaries.method.fetch, (call) => fetch(readerOf, call));
}

/** Returns the project of a call, with the services that the caller may use. */
type ReaderOf = (
  context: CallContext,
  instanceName: string,
) => Promise<{ readonly project: string; readonly granaries: FarmsGranaries }>;

async function fetch(readerOf: ReaderOf, call: ServerCall): Promise<void> {
  const { context, requests, inTurn, sendInTurn } = call;
  const message = await requests.only();
  const { instanceName, items } = await inTurn(message.byteLength, () =>
    decodeInTurns(Granaries.method.fetch, FetchRequestSchema, message, context.peer),
  );
  const { project, granaries } = await readerOf(context, instanceName);
  const packs = packsOf(granaries.fetch(project, items));
  const read = () => {
    const pack = packs.next();
    // Handles a rejection that comes before the pack is awaited.
    pack.catch(() => {});
    return pack;
  };
  try {
    for (let coming = read(); ; ) {
      const { value: pack, done } = await coming;
      if (done) return;
      context.signal.throwIfAborted();
      coming = read();
      await sendInTurn(packBytes, () => packedResponse(encodeFetched(pack)));
    }
  } finally {
    await packs.return();
  }
}
