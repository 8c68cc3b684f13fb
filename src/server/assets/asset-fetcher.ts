import type { Principal } from "#access/principal.ts";
import type { Caches } from "#caches/caches.ts";
import type { Digest } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import { type AssetQuery, assetKey } from "./asset-query.ts";
import type { AssetStore } from "./asset-store.ts";
import { checksumCheck } from "./checksum.ts";
import { type DownloadRules, download, isDownloadable } from "./download.ts";

/** Content that was downloaded, and from where. */
interface FetchedAsset {
  readonly uri: string;
  readonly digest: Digest;
}

/** Downloads content into projects. */
export interface AssetFetcher {
  /**
   * Returns content from the first of its URIs that gives it, and stores it.
   *
   * Throws the fault of the last URI, and `not_found` when no URI is one that can be downloaded.
   */
  fetch(
    query: AssetQuery,
    by: { readonly caller: Principal; readonly project: string },
    timeoutMs: number,
  ): Promise<FetchedAsset>;
}

interface AssetFetcherParts {
  readonly rules: DownloadRules;
  readonly store: Pick<AssetStore, "keep">;
  readonly caches: Pick<Caches, "take">;
  /** Counts bytes before they are stored; throws when they exceed the caller's quota. */
  readonly admit: (caller: Principal, project: string, bytes: number) => Promise<unknown>;
  readonly mostBytes: number;
  readonly nowMs: () => number;
}

/** A download needs a connection and some memory. Callers take turns. */
const downloadsAtOnce = 16;
const mostTimeoutMs = 10 * 60_000;

export function assetFetcher(parts: AssetFetcherParts): AssetFetcher {
  const gate = new FairGate(downloadsAtOnce);
  /** Callers that ask for the same content at the same time share a download. */
  const underWay = new Map<string, Promise<FetchedAsset>>();

  const fetchAny: AssetFetcher["fetch"] = async (query, by, timeoutMs) => {
    let failure = new Fault(
      "not_found",
      `${query.uris[0]} was not pushed, and is no address that the farm can download`,
    );
    for (const uri of query.uris.filter(isDownloadable)) {
      try {
        const storedAtMs = parts.nowMs();
        const digest = await gate.through(by.caller.name, () => take(query, uri, by, timeoutMs));
        // What a secret header opened must not be opened without it; content with a checksum is found by that.
        if (!query.hasHeaders) {
          const record = { origin: "fetched", storedAtMs, expiresAtMs: undefined } as const;
          await parts.store.keep({ ...query, uris: [uri] }, by, digest, record);
        }
        return { uri, digest };
      } catch (reason) {
        if (!(reason instanceof Fault)) throw reason;
        failure = reason;
      }
    }
    throw failure;
  };

  const take = async (
    query: AssetQuery,
    uri: string,
    { caller, project }: { readonly caller: Principal; readonly project: string },
    timeoutMs: number,
  ): Promise<Digest> => {
    const { mostBytes, rules, caches } = parts;
    const check = query.checksum && checksumCheck(query.checksum);
    const request = {
      uri,
      headers: query.headersFor(uri),
      isChecked: check !== undefined,
      mostBytes,
      timeoutMs: Math.min(timeoutMs, mostTimeoutMs),
    };
    const chunks = admitting(download(request, rules), (bytes) =>
      parts.admit(caller, project, bytes),
    );
    const digest = await caches.take(project, check?.through(chunks) ?? chunks);
    check?.require();
    return digest;
  };

  return {
    fetch(query, by, timeoutMs) {
      // Another caller's headers, or domain, are not this one's.
      if (query.hasHeaders) return fetchAny(query, by, timeoutMs);
      const keys = query.uris.map((uri) => assetKey(query, uri));
      const key = JSON.stringify([by.project, by.caller.name, timeoutMs, keys]);
      const found = underWay.get(key);
      if (found !== undefined) return found;
      const fetching = fetchAny(query, by, timeoutMs).finally(() => underWay.delete(key));
      underWay.set(key, fetching);
      return fetching;
    },
  };
}

async function* admitting(
  chunks: AsyncIterable<Uint8Array>,
  admit: (bytes: number) => Promise<unknown>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    await admit(chunk.byteLength);
    yield chunk;
  }
}
