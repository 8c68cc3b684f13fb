import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { FetchedThing, FetchRequest, GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { ForegroundPriority } from "./foreground-priority.ts";
import { blobName, resultName, type SharedTransfers } from "./shared-transfers.ts";
import type { QueuedResult } from "./transfer-plan.ts";
import type { Settled } from "./transfer-queue.ts";

/** The part of the store that prefetching uses. */
export interface PrefetchStore extends Pick<GranaryStore, "has" | "hasBlob" | "keep"> {
  readonly blobs: Pick<GranaryStore["blobs"], "put" | "write">;
}

interface WindowParts {
  readonly project: string;
  readonly store: PrefetchStore;
  readonly farm: Pick<GranaryFarm, "fetch">;
  readonly shared: SharedTransfers;
  readonly way: ForegroundPriority;
  /** Resolves when the next request may be sent. */
  readonly mayAsk: () => Promise<void>;
  /** Called for each result as soon as it is stored, before the window ends. */
  readonly onKept: (result: GranaryResult) => void;
  readonly signal: AbortSignal;
  /** Transfers above this size pause while the build itself waits for the farm. */
  readonly windowBytes: number;
}

interface EndOfResult {
  readonly item: QueuedResult;
  readonly as: Settled;
  readonly bytes: number;
}

interface EndOfWindow {
  readonly results: readonly EndOfResult[];
  /** The blobs that were transferred. */
  readonly blobs: readonly Digest[];
}

/** Blobs up to this size are written in one piece, larger ones as they arrive. */
const wholeBytes = 1024 * 1024;
/** The most files written at the same time. */
const writesAtOnce = 16;
/** The farm's limit for one call. */
const mostRequests = 10_000;

/**
 * Fetches results, then their missing blobs. Each blob is verified while it is
 * written, and a result is stored once all of its blobs are. Transfers of other builds are awaited, not
 * repeated.
 */
export async function fetchWindow(
  parts: WindowParts,
  items: readonly QueuedResult[],
): Promise<EndOfWindow> {
  const { project, store, shared } = parts;
  const transferred: Digest[] = [];
  const found = new Map<string, GranaryResult>();
  const absent = new Set<string>();
  const others: Promise<void>[] = [];
  /** The found results with the number of their missing blobs. */
  const waiting = new Map<string, { readonly result: GranaryResult; missing: number }>();
  const waitingFor = new Map<string, string[]>();
  const releases = new Map<string, () => void>();
  let isBroken = false;

  const missingOf = (digests: Iterable<Digest>): Digest[] => {
    const missing = new Map<string, Digest>();
    for (const digest of digests) {
      if (!store.hasBlob(digest)) missing.set(digestKey(digest), digest);
    }
    return [...missing.values()];
  };
  const mine = (digests: readonly Digest[]): Digest[] =>
    digests.filter((digest) => {
      const name = blobName(digest);
      const release = shared.claim(name);
      if (release !== undefined) releases.set(name, release);
      else others.push(shared.coming(name) ?? Promise.resolve());
      return release !== undefined;
    });

  /** Stores a complete result at once, so that a waiting request can be answered. */
  async function keep(result: GranaryResult): Promise<void> {
    waiting.delete(keyText(result));
    await store.keep(result);
    parts.onKept(result);
    releases.get(resultName(project, result))?.();
  }

  function isFound(result: GranaryResult): Promise<void> | undefined {
    const name = keyText(result);
    if (found.has(name)) return undefined;
    found.set(name, result);
    const missing = missingOf([result.value, ...result.blobs]);
    if (missing.length === 0) return keep(result);
    waiting.set(name, { result, missing: missing.length });
    for (const digest of missing) {
      const key = digestKey(digest);
      waitingFor.set(key, [...(waitingFor.get(key) ?? []), name]);
    }
    return undefined;
  }

  async function isHere(digest: Digest): Promise<void> {
    transferred.push(digest);
    releases.get(blobName(digest))?.();
    for (const name of waitingFor.get(digestKey(digest)) ?? []) {
      const one = waiting.get(name);
      if (one !== undefined && --one.missing === 0) await keep(one.result);
    }
  }

  try {
    for (const { key } of items) {
      const name = resultName(project, key);
      const release = shared.claim(name);
      if (release !== undefined) releases.set(name, release);
    }
    // The requests are ordered by result, so that the first result is complete while the last is
    // still in transfer.
    const requests: FetchRequest[] = [];
    const named = new Set<string>();
    for (const { key, blobs } of items) {
      requests.push({ kind: "result", key });
      const fresh = missingOf(blobs).filter((digest) => !named.has(digestKey(digest)));
      for (const digest of fresh) named.add(digestKey(digest));
      for (const digest of mine(fresh)) requests.push({ kind: "blob", digest });
    }
    const names = new Set(items.map(({ key }) => keyText(key)));
    await get(requests);
    // Blobs that the index does not name, because no build had read them, are needed as well, because results are
    // stored with all their blobs.
    const rest = mine(
      missingOf([...waiting.values()].flatMap(({ result: r }) => [r.value, ...r.blobs])),
    );
    if (rest.length > 0) await get(rest.map((digest) => ({ kind: "blob", digest })));
    // Releases its claims before it waits for others, so that two builds cannot wait for each other.
    for (const [name, release] of releases) if (name.startsWith("blob ")) release();
    await Promise.race([Promise.all(others), aborted(parts.signal)]);

    async function get(wanted: readonly FetchRequest[]): Promise<void> {
      for (let i = 0; i < wanted.length; i += mostRequests) {
        const some = wanted.slice(i, i + mostRequests);
        await parts.mayAsk();
        await takeAll(parts, some, {
          async result(result) {
            if (names.has(keyText(result))) await isFound({ ...result, project });
          },
          blob: isHere,
          absent: (key) => void absent.add(keyText(key)),
        });
      }
    }
    // Blobs that other builds fetched.
    for (const { result } of waiting.values()) {
      if (missingOf([result.value, ...result.blobs]).length > 0) continue;
      await keep(result);
    }
  } catch {
    isBroken = true;
  } finally {
    for (const release of releases.values()) release();
  }

  const sizes = new Map(transferred.map((digest) => [digestKey(digest), digest.sizeBytes]));
  const results = items.map((item): EndOfResult => {
    const name = keyText(item.key);
    const result = found.get(name);
    const blobs = result === undefined ? item.blobs : [result.value, ...result.blobs];
    let bytes = 0;
    for (const digest of blobs) {
      bytes += sizes.get(digestKey(digest)) ?? 0;
      sizes.delete(digestKey(digest));
    }
    if (store.has(project, item.key)) return { item, as: "here", bytes };
    if (absent.has(name)) return { item, as: "incomplete", bytes };
    return { item, as: isBroken ? "again" : "incomplete", bytes };
  });
  return { results, blobs: transferred };

  async function takeAll(
    { farm, signal }: WindowParts,
    requests: readonly FetchRequest[],
    on: {
      result(result: GranaryResult): Promise<void>;
      blob(digest: Digest): Promise<void>;
      absent(key: ResultKey): void;
    },
  ): Promise<void> {
    const wanted = new Map<string, Digest>();
    for (const request of requests) {
      if (request.kind === "blob") wanted.set(digestKey(request.digest), request.digest);
    }
    const isLarge =
      [...wanted.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > parts.windowBytes;
    const writes = new Set<Promise<unknown>>();
    let failed: unknown;
    const things = farm.fetch(project, requests, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        // While nothing is read, the farm's stream stops, which leaves the connection to the build.
        if (isLarge) await parts.way.free();
        const next = await things.next();
        if (next.done === true) break;
        const thing = next.value;
        if (thing.kind === "result") await on.result(thing.result);
        else if (thing.kind === "absent") {
          if (thing.request.kind === "result") on.absent(thing.request.key);
        } else await take(thing);
        if (failed !== undefined) throw failed;
      }
      await Promise.all(writes);
      if (failed !== undefined) throw failed;
    } finally {
      await Promise.allSettled(writes);
      await things.return?.();
    }

    async function take(part: FetchedThing & { kind: "part" }): Promise<void> {
      const key = digestKey(part.digest);
      const digest = wanted.get(key);
      // The part was not requested, or it is the rest of a blob that could not be written.
      if (digest === undefined || part.offset !== 0) return;
      wanted.delete(key);
      if (digest.sizeBytes > wholeBytes) {
        const chunks = wholeBlob(digest, part.data, things, parts);
        if (await isRight(parts.store.blobs.write(digest, chunks))) await on.blob(digest);
        return;
      }
      let bytes = part.data;
      if (bytes.byteLength !== digest.sizeBytes) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of wholeBlob(digest, part.data, things, parts)) chunks.push(chunk);
        bytes = Buffer.concat(chunks);
      }
      const write = isRight(parts.store.blobs.put(digest, bytes))
        .then((right) => (right ? on.blob(digest) : undefined))
        .catch((reason: unknown) => {
          failed ??= reason;
        });
      writes.add(write);
      void write.then(() => writes.delete(write));
      if (writes.size >= writesAtOnce) await Promise.race(writes);
    }
  }
}

/** Returns false for bytes that do not match their digest, as a retry would get the same. Other errors are thrown. */
async function isRight(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return false;
    throw reason;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function* wholeBlob(
  digest: Digest,
  first: Uint8Array,
  things: AsyncIterator<FetchedThing>,
  { way }: WindowParts,
): AsyncGenerator<Uint8Array, void, undefined> {
  let have = first.byteLength;
  yield first;
  while (have < digest.sizeBytes) {
    await way.free();
    const next = await things.next();
    const part = next.done === true ? undefined : next.value;
    const isNext =
      part?.kind === "part" && part.offset === have && digestKey(part.digest) === digestKey(digest);
    if (!isNext) throw new Fault("data_loss", `the farm sent ${digestKey(digest)} in pieces only`);
    have += part.data.byteLength;
    yield part.data;
  }
}
