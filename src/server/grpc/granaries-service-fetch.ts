import { packBytes, packsOf } from "#granaries/fetch-order.ts";
import { encodeFetched, packedResponse } from "#granaries/fetched-message.ts";
import type { Granaries as FarmsGranaries } from "#granaries/open-granaries.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { decodeInTurns } from "#grpc/decode-request.ts";
import { type Method, rawMethod, type ServerCall } from "#grpc/method.ts";
import { FetchRequestSchema, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";

/**
 * Fetch, message by message.
 *
 * While one pack is on its way, the next is read, and no more: who takes slowly, or stops, makes us hold two. Each
 * is made when its connection's turn comes, so that whoever fetches ahead does not hold up others' builds.
 */
export function fetchMethod(readerOf: ReaderOf): Method {
  return rawMethod(Granaries.method.fetch, (call) => fetch(readerOf, call));
}

/** For which project somebody asks, and what there is for them. */
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
    // It may fail while nobody waits for it yet.
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
