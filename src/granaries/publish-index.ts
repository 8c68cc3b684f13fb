import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf } from "#cas/digest-of.ts";
import { decodeIndexInTurns } from "#commit-index/decode-index.ts";
import { type BaseIndex, deltaTo } from "#commit-index/delta-to.ts";
import { encodeIndexInTurns } from "#commit-index/encode-index.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { indexLimits } from "#commit-index/index-limits.ts";
import { mergeIndexes } from "#commit-index/merge-indexes.ts";
import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { addsNothing, admitEntries, withinBytes } from "./admit-entries.ts";
import {
  addIndex,
  countNewIndexes,
  type IndexKey,
  indexOfCommit,
  type NewIndex,
  replaceIndex,
} from "./commit-index.store.ts";
import { touchIndexes } from "./index-retention.store.ts";
import type { IndexedBuild } from "./indexed-build.ts";
import { entriesOf, nearestBase } from "./nearest-base.ts";
import type { BlobsOf } from "./project-parts.ts";
import type { ProjectResults } from "./project-results.ts";

/**
 * Whether a repository that the farm knows has a commit. The cost of the check counts against the limits of
 * `principal`.
 */
export type KnowsCommit = (
  repository: string,
  commit: string,
  principal: string,
) => Promise<"known" | "unknown" | "no such repository">;

interface IndexParts {
  readonly db: Db;
  readonly blobsOf: BlobsOf;
  readonly results: ProjectResults;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly domain: TrustDomain;
  readonly knowsCommit: KnowsCommit;
  /** How many commits of a project get their first index within an hour. */
  readonly mostNewAnHour?: number;
}

export interface ReceivedIndex {
  readonly entries: Digest;
  readonly isComplete: boolean;
  readonly targets: readonly string[];
  readonly principal: string;
}

export interface PublishedIndex {
  readonly taken: number;
  readonly refused: number;
  /** The commit's current index; undefined when it has none. */
  readonly index: Digest | undefined;
}

/** Much more than people and CI push. */
const defaultNewAnHour = 2_000;
const hourMs = 60 * 60_000;
/** The number of keys that are looked up together. */
const entriesAtOnce = 1_000;
const mostTargets = 100;
/** Each failure means that another server has made progress. */
const mostTries = 30;

/** A large index is some 200 MiB once it is decoded. */
const largeIndexes = new FairGate(2);

/** Adds a build's requested results to its commit's index. Never removes existing entries. */
export async function publishIndex(
  parts: IndexParts,
  build: IndexedBuild,
  reported: ReceivedIndex,
): Promise<PublishedIndex> {
  const [commit] = build.commits;
  if (commit === undefined) {
    throw new Fault("invalid_argument", "an index must name its commit");
  }
  const key: IndexKey = { ...build, commit, domain: parts.domain };
  await requireKnown(parts, build.repository, commit, reported.principal);
  return largeIndexes.through(build.project, async () => {
    const readEntries = await readReceivedIndex(parts.blobsOf(build.project), reported.entries);
    const { entries, goneBlobs } = await admit(parts, build.project, readEntries.entries);
    const kept = withinBytes(entries).entries;
    const refused = readEntries.entries.length - kept.length + readEntries.unknownEntries;
    if (goneBlobs > 0) {
      parts.logger.debug({ goneBlobs, commit }, "an index names blobs that the farm does not have");
    }
    const index =
      kept.length === 0
        ? (await indexOfCommit(parts.db, key))?.digest
        : await merge(parts, build, key, reported, kept);
    return { taken: kept.length, refused, index };
  });
}

async function requireKnown(
  { knowsCommit }: IndexParts,
  repository: string,
  commit: string,
  principal: string,
) {
  if (repository === "" || (await knowsCommit(repository, commit, principal)) !== "unknown") return;
  throw new Fault(
    "failed_precondition",
    `${repository} has no commit ${commit} that the farm can fetch; push it first, then its index is accepted`,
  );
}

async function readReceivedIndex(blobs: BlobStore, digest: Digest) {
  if (digest.sizeBytes > indexLimits.bytes) {
    throw new Fault(
      "invalid_argument",
      `an index of ${digest.sizeBytes} bytes is over ${indexLimits.bytes}`,
    );
  }
  const bytes = await blobs.get(digest);
  if (bytes === undefined) {
    throw new Fault(
      "failed_precondition",
      `the farm does not have the index ${digestKey(digest)}; upload it first`,
    );
  }
  const { delta, unknownEntries } = await decodeIndexInTurns(bytes);
  if (delta.base !== undefined || delta.removed.length > 0) {
    throw new Fault(
      "invalid_argument",
      "the index of a build must be complete: without base or removals",
    );
  }
  return { entries: mergeIndexes([delta.entries]), unknownEntries };
}

async function admit(
  { blobsOf, results }: IndexParts,
  project: string,
  newEntries: readonly IndexEntry[],
): Promise<{ readonly entries: IndexEntry[]; readonly goneBlobs: number }> {
  const turn = takingTurns();
  const blobs = blobsOf(project);
  const entries: IndexEntry[] = [];
  let goneBlobs = 0;
  for (let at = 0; at < newEntries.length; at += entriesAtOnce) {
    await turn();
    const some = newEntries.slice(at, at + entriesAtOnce);
    const found = await results.named(project, some);
    const its = admitEntries(some, found, new Set());
    const gone = new Set(
      (await blobs.findMissing(its.flatMap(({ blobs: named }) => named))).map(digestKey),
    );
    // A value that is a row becomes a blob, so that it can be fetched like other blobs.
    await results.storeValues(project, found);
    entries.push(...admitEntries(some, found, gone));
    goneBlobs += gone.size;
  }
  return { entries, goneBlobs };
}

async function merge(
  parts: IndexParts,
  build: IndexedBuild,
  key: IndexKey,
  reported: ReceivedIndex,
  admitted: readonly IndexEntry[],
): Promise<Digest> {
  const { db } = parts;
  const blobs = parts.blobsOf(build.project);
  const reading = { ...parts, blobs };
  let base: Promise<BaseIndex | undefined> | undefined;
  for (let tried = 0; tried < mostTries; tried++) {
    const own = await indexOfCommit(db, key);
    if (own === undefined) await requireRoom(parts, key);
    const before = own === undefined ? [] : await entriesOf(reading, own.digest);
    const { entries, bytes } = withinBytes(
      mergeIndexes([before ?? [], admitted]).slice(0, indexLimits.entries),
    );
    const isComplete = reported.isComplete || (own?.isComplete ?? false);
    const targets = [...new Set([...(own?.targets ?? []), ...reported.targets])].slice(
      0,
      mostTargets,
    );
    const isKnown =
      own?.isComplete === isComplete &&
      own.targets.length === targets.length &&
      addsNothing(admitted, before ?? []);
    if (own !== undefined && isKnown) {
      await touchIndexes(db, [key]);
      return own.digest;
    }
    base ??= nearestBase(reading, build);
    const form = deltaTo(entries, await base);
    const encoded = await encodeIndexInTurns(form.delta);
    const digest = digestOf(encoded);
    // Write the blob first, so that readers of the row find it.
    await blobs.put(digest, encoded);
    const index: NewIndex = {
      ...key,
      tree: build.tree,
      branch: build.branch,
      digest,
      base: form.delta.base,
      chain: form.chain,
      isComplete,
      targets,
      entries: entries.length,
      bytes,
      principal: reported.principal,
    };
    const isKept =
      own === undefined ? await addIndex(db, index) : await replaceIndex(db, index, own.version);
    if (isKept) return digest;
    await wait(Math.random() * Math.min(200, 5 * 2 ** tried));
  }
  throw new Fault(
    "aborted",
    `too many builds of ${key.commit} publish their indexes at the same time; publish it again shortly`,
  );
}

async function requireRoom(
  { db, clock, mostNewAnHour = defaultNewAnHour }: IndexParts,
  key: Pick<IndexKey, "project" | "domain">,
) {
  const since = new Date(clock.now().getTime() - hourMs);
  if ((await countNewIndexes(db, key, since, mostNewAnHour)) < mostNewAnHour) return;
  throw new Fault(
    "resource_exhausted",
    `project ${key.project} got ${mostNewAnHour} new commit indexes within an hour, which is the limit; publish this one later`,
  );
}
