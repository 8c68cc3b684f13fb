import type { BlobStore } from "#cas/blob-store.ts";
import { fromLoneDigest } from "#commit-index/lone-digest.ts";
import { keyText } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { FetchItem } from "#proto/grange/granary/v1/granary_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { FetchedThing } from "./fetched-message.ts";
import type { BlobsOf } from "./project-parts.ts";
import type { ProjectResults } from "./project-results.ts";
import type { RecentlySentBlobs } from "./recently-sent-blobs.ts";
import { keyOf, toStoredResult } from "./stored-result-message.ts";

const mostItems = 10_000;
/** The number of items looked up together. The first results must not wait for the last. */
const itemsAtOnce = 500;
/** Blobs up to this size are read completely, several together. */
const smallBytes = 128 * 1024;
const mostReadTogether = 512 * 1024;
const readsAtOnce = 32;
/** Packing this much blocks the event loop for about a millisecond. */
export const packBytes = 256 * 1024;
/** The first message is small, because a build may wait for it. */
const firstBytes = 32 * 1024;

interface FetchParts {
  readonly blobsOf: BlobsOf;
  readonly results: Pick<ProjectResults, "whole">;
  readonly sentLately: RecentlySentBlobs;
}

type Request =
  | { readonly kind: "result"; readonly item: FetchItem; readonly name: string }
  | {
      readonly kind: "blob";
      readonly item: FetchItem;
      readonly name: string;
      readonly digest: Digest;
    };

/**
 * Yields the requested items in their order: results, parts of blobs, and items that are missing.
 *
 * A repeated item is sent once. Apart from a few small blobs, nothing is read before it is requested; when the caller
 * stops, reading stops. Throws `invalid_argument` before the first item when one is invalid.
 */
export function fetchOrder(
  parts: FetchParts,
  project: string,
  items: readonly FetchItem[],
): AsyncGenerator<FetchedThing, void, undefined> {
  if (items.length > mostItems) {
    throw new Fault(
      "invalid_argument",
      `an order may have at most ${mostItems} items, and this one has ${items.length}; make several`,
    );
  }
  const requests = new Map(items.map(wantedOf).map((request) => [request.name, request]));
  return thingsFor(parts, project, [...requests.values()]);
}

function wantedOf(item: FetchItem): Request {
  switch (item.item.case) {
    case "result":
      return { kind: "result", item, name: keyText(keyOf(item.item.value)) };
    case "blob": {
      const digest = fromLoneDigest(item.item.value, "a blob");
      return { kind: "blob", item, name: `blob ${digestKey(digest)}`, digest };
    }
    case undefined:
      throw new Fault("invalid_argument", "an item of the order must name a result or a blob");
  }
}

async function* thingsFor(parts: FetchParts, project: string, requests: readonly Request[]) {
  for (let at = 0; at < requests.length; at += itemsAtOnce) {
    yield* thingsOfSome(parts, project, requests.slice(at, at + itemsAtOnce));
  }
}

async function* thingsOfSome(
  { blobsOf, results, sentLately }: FetchParts,
  project: string,
  requests: readonly Request[],
): AsyncGenerator<FetchedThing, void, undefined> {
  const blobs = blobsOf(project);
  const keys = requests.flatMap(({ item: { item } }) =>
    item.case === "result" ? keyOf(item.value) : [],
  );
  const found = keys.length === 0 ? [] : await results.whole(project, keys);
  const byName = new Map(found.map((result) => [keyText(result), result]));
  // After the results, because their values are then stored as blobs.
  const digests = requests.flatMap((request) => (request.kind === "blob" ? request.digest : []));
  const missing = new Set((await blobs.findMissing(digests)).map(digestKey));

  for (const group of readTogether(requests)) {
    const read = await mapAtMost(readsAtOnce, group, async (request) =>
      request.kind === "blob" && isSmall(request) && !missing.has(digestKey(request.digest))
        ? sentLately.get(digestKey(request.digest), () => readSound(blobs, request.digest))
        : undefined,
    );
    for (const [i, request] of group.entries()) {
      const absent = { kind: "absent", item: request.item } as const;
      if (request.kind === "result") {
        const result = byName.get(request.name);
        yield result ? { kind: "result", result: toStoredResult(result) } : absent;
      } else if (isSmall(request)) {
        const data = read[i];
        const digest = messageIn(request);
        yield data && digest ? { kind: "part", digest, offset: 0, data } : absent;
      } else if (missing.has(digestKey(request.digest))) yield absent;
      else yield* partsOf(blobs, request);
    }
  }
}

type BlobRequest = Extract<Request, { kind: "blob" }>;

const isSmall = ({ digest }: BlobRequest) => digest.sizeBytes <= smallBytes;

/** The digest as it was requested, which the caller recognises. */
const messageIn = ({ item: { item } }: BlobRequest) =>
  item.case === "blob" ? item.value : undefined;

/** Cuts the requests so that little is in memory at one time. */
function* readTogether(requests: readonly Request[]): Generator<Request[]> {
  let group: Request[] = [];
  let bytes = 0;
  let most = firstBytes;
  for (const request of requests) {
    const its = request.kind === "blob" && isSmall(request) ? request.digest.sizeBytes : 0;
    if (group.length > 0 && bytes + its > most) {
      yield group;
      group = [];
      bytes = 0;
      most = mostReadTogether;
    }
    group.push(request);
    bytes += its;
  }
  if (group.length > 0) yield group;
}

/** Returns undefined when it is missing or corrupt. */
async function readSound(blobs: BlobStore, digest: Digest): Promise<Uint8Array | undefined> {
  try {
    return await blobs.get(digest);
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "data_loss") return undefined;
    throw reason;
  }
}

async function* partsOf(
  blobs: BlobStore,
  request: BlobRequest,
): AsyncGenerator<FetchedThing, void, undefined> {
  const digest = messageIn(request);
  const absent = { kind: "absent", item: request.item } as const;
  let offset = 0;
  try {
    const chunks = await blobs.read(request.digest);
    if (chunks === undefined || digest === undefined) {
      yield absent;
      return;
    }
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; at += packBytes) {
        const data = chunk.subarray(at, at + packBytes);
        yield { kind: "part", digest, offset, data };
        offset += data.byteLength;
      }
    }
  } catch (reason) {
    const isLost =
      reason instanceof Fault && (reason.code === "data_loss" || reason.code === "not_found");
    // After a part was sent, only the rest can follow.
    if (!isLost || offset > 0) throw reason;
    yield absent;
  }
}

/** Yields groups that are sent together: a few hundred small ones, or a part of a large one. */
export async function* packsOf(
  things: AsyncIterable<FetchedThing>,
): AsyncGenerator<FetchedThing[], void, undefined> {
  let pack: FetchedThing[] = [];
  let bytes = 0;
  let most = firstBytes;
  for await (const thing of things) {
    const its = weightOf(thing);
    if (pack.length > 0 && bytes + its > most) {
      yield pack;
      pack = [];
      bytes = 0;
      most = Math.min(packBytes, most * 4);
    }
    pack.push(thing);
    bytes += its;
  }
  if (pack.length > 0) yield pack;
}

const digestBytes = 80;

function weightOf(thing: FetchedThing): number {
  switch (thing.kind) {
    case "part":
      return digestBytes + thing.data.byteLength;
    case "result":
      return 4 * digestBytes + thing.result.blobs.length * digestBytes;
    case "absent":
      return 2 * digestBytes;
  }
}
