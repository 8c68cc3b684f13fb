import { digestOf } from "#cas/digest-of.ts";
import type { ExpectedEntry } from "#commit-index/filter-by-diff.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { FetchedThing, FetchRequest } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";

/** A read-only farm in memory: it records its calls, and pauses when a test requests it. */
export interface FetchingFarm {
  readonly asked: (readonly FetchRequest[])[];
  /** Returns the requested items, in order: keys of results, and texts of blobs. */
  words(): string[];
  has(key: string, texts: readonly [string, ...string[]]): GranaryResult;
  /** Called before each item that it sends. */
  before: (thing: FetchedThing) => void | Promise<void>;
  /** Bytes that it sends in place of a blob's own. */
  rotten: Map<string, Uint8Array>;
  forgetBlob(text: string): void;
  partBytes: number;
  away: boolean;
  measured: { roundTripMs: number; bytesPerSecond: number } | undefined;
  isAway(): boolean;
  line(): { roundTripMs: number; bytesPerSecond: number } | undefined;
  fetch(
    project: string,
    requests: readonly FetchRequest[],
    signal: AbortSignal,
  ): AsyncIterable<FetchedThing>;
}

export function fetchingFarm(): FetchingFarm {
  const results = new Map<string, GranaryResult>();
  const blobs = new Map<string, Uint8Array>();

  async function* partsOf(digest: Digest): AsyncGenerator<FetchedThing> {
    const bytes = farm.rotten.get(digestKey(digest)) ?? blobs.get(digestKey(digest));
    if (bytes === undefined) {
      yield { kind: "absent", request: { kind: "blob", digest } };
      return;
    }
    let offset = 0;
    do {
      const data = bytes.subarray(offset, offset + farm.partBytes);
      yield { kind: "part", digest, offset, data };
      offset += data.byteLength;
    } while (offset < bytes.byteLength);
  }

  async function* things(requests: readonly FetchRequest[]): AsyncGenerator<FetchedThing> {
    for (const request of requests) {
      if (request.kind === "blob") yield* partsOf(request.digest);
      else {
        const result = results.get(keyText(request.key));
        yield result === undefined ? { kind: "absent", request } : { kind: "result", result };
      }
    }
  }

  const farm: FetchingFarm = {
    asked: [],
    before: () => {},
    rotten: new Map(),
    partBytes: 64 * 1024,
    away: false,
    measured: { roundTripMs: 1, bytesPerSecond: 100_000_000 },
    isAway: () => farm.away,
    line: () => farm.measured,
    words: () =>
      farm.asked.flat().map((request) =>
        request.kind === "result"
          ? request.key.key
          : Buffer.from(blobs.get(digestKey(request.digest)) ?? [])
              .toString()
              .slice(0, 20),
      ),
    has(key, texts) {
      const [value, ...rest] = texts.map((text) => {
        const bytes = Buffer.from(text);
        const digest = digestOf(bytes);
        blobs.set(digestKey(digest), bytes);
        return digest;
      });
      if (value === undefined) throw new Error("a result has a value");
      const result: GranaryResult = {
        project: "p",
        namespace: "ccache",
        key,
        value,
        blobs: rest,
        attributes: {},
        costMs: 100,
      };
      results.set(keyText(result), result);
      return result;
    },
    forgetBlob: (text) => void blobs.delete(digestKey(digestOf(Buffer.from(text)))),
    async *fetch(_project, requests, signal) {
      farm.asked.push(requests);
      for await (const thing of things(requests)) {
        await farm.before(thing);
        if (signal.aborted) throw new Fault("cancelled", "nobody waits any more");
        yield thing;
      }
    },
  };
  return farm;
}

/** Returns the index entry of a result. */
export function expectedOf(result: GranaryResult, firstMs: number, savedMs = 1_000): ExpectedEntry {
  return {
    entry: {
      namespace: result.namespace,
      key: result.key,
      blobs: [result.value, ...result.blobs],
      firstMs,
      savedMs,
      inputs: undefined,
    },
    confidence: 1,
  };
}

export function keyOf(key: string): ResultKey {
  return { namespace: "ccache", key };
}
