import type { Logger } from "pino";
import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import type { Caches } from "#caches/caches.ts";
import type { KeyFilter } from "#commit-index/key-filter.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Clock } from "#core/clock.ts";
import type { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import type { FetchItem } from "#proto/grange/granary/v1/granary_pb.ts";
import { type BlobAlong, blobsAlong } from "./blobs-along.ts";
import type { ChosenIndex } from "./choose-indexes.ts";
import type { StoredIndex } from "./commit-index.store.ts";
import { fetchOrder, packsOf } from "./fetch-order.ts";
import { type FetchedThing, type PackedThings, packedThings } from "./fetched-message.ts";
import { addBuild } from "./granary-build.store.ts";
import { indexHead } from "./index-head.ts";
import type { IndexedBuild } from "./indexed-build.ts";
import { keyFilters } from "./project-keys.ts";
import type { BlobsOf, TreesOf } from "./project-parts.ts";
import { type FarmResult, projectResults } from "./project-results.ts";
import {
  type KnowsCommit,
  type PublishedIndex,
  publishIndex,
  type ReceivedIndex,
} from "./publish-index.ts";
import { publishResults, type ResultEnd } from "./publish-results.ts";
import { quarantine } from "./quarantine.ts";
import { type QuarantineUpdateOfFarm, quarantineUpdate } from "./quarantine-update.ts";
import type { RecentlySentBlobs } from "./recently-sent-blobs.ts";
import { resolveIndexes } from "./resolve-indexes.ts";
import { type IndexBlob, smallIndexes } from "./small-indexes.ts";
import type { ReceivedResult } from "./stored-result-message.ts";

/** The operations that granaries request. The caller's right is checked before. */
export interface Granaries {
  resolve(build: IndexedBuild): Promise<ChosenIndex<StoredIndex>[]>;
  /** Of the chosen indexes, those that are small enough to send with the answer. */
  smallIndexes(project: string, chosen: readonly ChosenIndex<StoredIndex>[]): Promise<IndexBlob[]>;
  /**
   * Returns the blobs that are requested first by the best chosen index, if that index was sent; up to this number of
   * bytes.
   */
  head(
    project: string,
    chosen: readonly ChosenIndex<StoredIndex>[],
    cameAlong: readonly IndexBlob[],
    mostBytes: number,
  ): Promise<PackedThings[]>;
  /** Returns the keys to drop, for a granary that knows all changes up to a version. */
  quarantinedSince(project: string, version: number): Promise<QuarantineUpdateOfFarm>;
  /** Returns undefined when a project has too many keys. */
  keyFilter(project: string): Promise<KeyFilter | undefined>;
  lookUp(project: string, keys: readonly ResultKey[]): Promise<FarmResult[]>;
  /** Blobs of the found results that may be sent with the answer. Never throws: other blobs are requested later. */
  blobsAlong(
    project: string,
    results: readonly FarmResult[],
    wantedBytes: number,
  ): Promise<BlobAlong[]>;
  fetch(project: string, items: readonly FetchItem[]): AsyncGenerator<FetchedThing>;
  /** An entry that is a Fault could not be read, and is refused with it. */
  publishResults(
    project: string,
    results: readonly (ReceivedResult | Fault)[],
    principal: string,
  ): Promise<ResultEnd[]>;
  publishIndex(build: IndexedBuild, reportedIndex: ReceivedIndex): Promise<PublishedIndex>;
  reportBuild(report: GranaryBuildReport, principal: string): Promise<void>;
  reportDivergence(project: string, divergence: Divergence, principal: string): Promise<boolean>;
}

export function openGranaries(parts: {
  readonly db: Db;
  readonly blobsOf: BlobsOf;
  readonly treesOf: TreesOf;
  readonly caches: Pick<Caches, "keep">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly domain: TrustDomain;
  readonly knowsCommit: KnowsCommit;
  /** The same for all domains. */
  readonly sentLately: RecentlySentBlobs;
  readonly mostNewIndexesAnHour?: number;
  readonly mostReportsAnHour?: number;
}): Granaries {
  const { db, mostNewIndexesAnHour } = parts;
  const results = projectResults(parts);
  const filters = keyFilters(parts);
  const indexParts = {
    ...parts,
    results,
    ...(mostNewIndexesAnHour === undefined ? {} : { mostNewAnHour: mostNewIndexesAnHour }),
  };
  const fetch: Granaries["fetch"] = (project, items) =>
    fetchOrder({ ...parts, results }, project, items);
  return {
    resolve: (build) => resolveIndexes(parts, build),
    smallIndexes: (project, chosen) => smallIndexes(parts.blobsOf(project), chosen),
    async head(project, [best], cameAlong, mostBytes) {
      if (best === undefined || mostBytes === 0) return [];
      const items = await indexHead(best.candidate.digest, cameAlong, mostBytes);
      const messages: PackedThings[] = [];
      try {
        for await (const things of packsOf(fetch(project, items))) {
          messages.push(await packedThings(things));
        }
      } catch (err) {
        // Blobs that could not be read are requested again, if they are needed.
        parts.logger.warn({ err, project }, "could not add all first results to an index");
      }
      return messages;
    },
    quarantinedSince: (project, version) => quarantineUpdate(db, project, version),
    keyFilter: filters,
    lookUp: (project, keys) => results.whole(project, keys),
    async blobsAlong(project, found, wantedBytes) {
      if (wantedBytes === 0) return [];
      try {
        return await blobsAlong(parts.blobsOf(project), found, wantedBytes);
      } catch (err) {
        parts.logger.warn({ err, project }, "could not add blobs to results");
        return [];
      }
    },
    fetch,
    publishResults: (project, reportedResults, principal) =>
      publishResults({ ...parts, results }, project, reportedResults, principal),
    publishIndex: (build, reportedIndex) => publishIndex(indexParts, build, reportedIndex),
    reportBuild: (report, principal) => addBuild(db, report, principal, parts.mostReportsAnHour),
    reportDivergence: (project, divergence, principal) =>
      quarantine(parts, project, divergence, principal),
  };
}
