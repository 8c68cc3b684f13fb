import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { zstdFrame } from "#cas/zstd/zstd-frame.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { filterByDiff } from "#commit-index/filter-by-diff.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { keyText } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import {
  BlobPartSchema,
  type FetchedItem,
  FetchedItemSchema,
  FetchedSchema,
  FetchResponseSchema,
  StoredResultSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { fetchedThings } from "../farm/fetched-things.ts";
import type { FetchRequest } from "../farm/granary-farm.ts";
import { toStoredResult } from "../farm/stored-result.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { PrefetchStore } from "./fetch-window.ts";
import { sharedTransfers } from "./shared-transfers.ts";
import { startPrefetch } from "./start-prefetch.ts";

/** About as many as the first messages of a farm contain. */
const mostResults = 48;
const project = "rehearsal";

/**
 * Runs the prefetch code once with generated results, without a farm or a store. Returns how many arrived.
 *
 * The first index and the first results are read many times slower than later ones, because V8 compiles the code during
 * that time, and the first build of a machine would wait for it (docs/decisions/0037-granary-overhead.md). No build
 * waits for a daemon that has just started.
 */
export async function warmUp(signal: AbortSignal): Promise<number> {
  const made = Array.from({ length: mostResults }, (_, at) => madeUp(at));
  const byKey = new Map(made.map((one) => [keyText(one.result), one]));
  const byBlob = new Map(made.map((one) => [digestKey(one.result.value), one]));

  const index = encodeIndex({
    base: undefined,
    entries: made.map(({ result }, at) => ({
      namespace: result.namespace,
      key: result.key,
      blobs: [result.value],
      firstMs: at,
      savedMs: 100,
      inputs: undefined,
    })),
    removed: [],
  });
  const { entries } = await resolveChain(digestOf(index), async () => index);
  const { expected } = filterByDiff(entries, [], 0);
  await setImmediate();

  function itemFor(request: FetchRequest): FetchedItem | undefined {
    if (request.kind === "result") {
      const one = byKey.get(keyText(request.key));
      if (one === undefined) return undefined;
      const value = create(StoredResultSchema, toStoredResult(one.result));
      return create(FetchedItemSchema, { item: { case: "result", value } });
    }
    const data = byBlob.get(digestKey(request.digest))?.bytes;
    if (data === undefined) return undefined;
    const value = create(BlobPartSchema, { digest: toDigestMessage(request.digest), data });
    return create(FetchedItemSchema, { item: { case: "blob", value } });
  }

  async function* fetch(_project: string, requests: readonly FetchRequest[]) {
    const fetched = fetchedThings(project, requests);
    const items = requests.flatMap((request) => itemFor(request) ?? []);
    const bytes = toBinary(FetchedSchema, create(FetchedSchema, { items }));
    const packed = await zstdFrame(bytes);
    await setImmediate();
    yield* await fetched.in(
      create(FetchResponseSchema, { packed, unpackedBytes: bytes.byteLength }),
    );
    yield* fetched.rest();
  }
  const store = storeOfNothing();
  const prefetch = startPrefetch({
    project,
    store,
    farm: { isAway: () => false, line: () => undefined, fetch },
    shared: sharedTransfers(),
    limits: { bytes: Number.MAX_SAFE_INTEGER, results: mostResults },
    elapsedMs: () => 0,
  });
  const stop = () => void prefetch.stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) return 0;
    prefetch.expect(expected);
    prefetch.planned(undefined);
    await prefetch.settled();
    return made.filter(({ result }) => store.has(project, result)).length;
  } finally {
    signal.removeEventListener("abort", stop);
    await prefetch.stop();
  }
}

/** Returns data of which half can be compressed, as for outputs of compilers. */
function madeUp(at: number): { readonly result: GranaryResult; readonly bytes: Uint8Array } {
  const noise = createHash("sha512").update(`${at}`).digest();
  const bytes = Buffer.concat([noise, Buffer.from(`int part${at}(int); `.repeat(8)), noise]);
  const key = createHash("sha1").update(noise).digest("hex");
  return {
    bytes,
    result: {
      namespace: "ccache",
      key,
      project,
      value: digestOf(bytes),
      attributes: {},
      blobs: [],
      costMs: 100,
    },
  };
}

function storeOfNothing(): PrefetchStore {
  const names = new Set<string>();
  return {
    has: (_project, key) => names.has(keyText(key)),
    hasBlob: (digest) => names.has(digestKey(digest)),
    keep: async (result) => void names.add(keyText(result)),
    blobs: {
      put: async (digest) => void names.add(digestKey(digest)),
      write: async () => {},
    },
  };
}
