import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import pino from "pino";
import { outputTrees } from "#actions/output-trees.ts";
import type { GranaryBuildReport } from "#api/granary.ts";
import { openCaches } from "#caches/open-caches.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { verifying } from "#cas/verifying-blob-store.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { type Clock, systemClock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import type { IndexedBuild } from "./indexed-build.ts";
import { openGranaries } from "./open-granaries.ts";
import type { KnowsCommit, PublishedIndex } from "./publish-index.ts";
import { openSentLately } from "./recently-sent-blobs.ts";
import type { ReceivedResult } from "./stored-result-message.ts";

export const sha = (n: number) => n.toString(16).padStart(40, "0");

/** The farm's side over a real directory and a real database; several may share both, as servers do. */
export async function farmOfGranaries(
  db: Db,
  options: {
    readonly knowsCommit?: KnowsCommit;
    readonly mostNewIndexesAnHour?: number;
    readonly mostReportsAnHour?: number;
    readonly clock?: Clock;
  } = {},
) {
  const directory = await mkdtemp(join(tmpdir(), "grange-granaries-"));
  const logger = pino({ level: "silent" });
  const clock = options.clock ?? systemClock;
  const disk = await openDiskBlobStore(directory);
  const blobs = verifying(disk, (digest) => disk.remove(digest));
  const trees = outputTrees(blobs);
  // One store for all projects, so that all of them use the same blobs.
  const storeOf = () => ({ blobs, unnamed: disk });
  const blobsOf = () => blobs;
  const treesOf = () => trees;
  const caches = openCaches({ db, storeOf, treesOf, clock, logger });
  const open = () =>
    openGranaries({
      knowsCommit: async () => "no such repository",
      sentLately: openSentLately(),
      ...options,
      db,
      blobsOf,
      treesOf,
      caches,
      clock,
      logger,
      domain: protectedDomain,
    });
  const granaries = open();

  const put = async (bytes: Uint8Array | string) => {
    const content = Buffer.from(bytes);
    const digest = digestOf(content);
    await blobs.put(digest, content);
    return digest;
  };

  return {
    db,
    directory,
    disk,
    blobs,
    trees,
    blobsOf,
    treesOf,
    caches,
    clock,
    granaries,
    /** Opens another server of the same farm. */
    open,
    put,

    /** Stores an entry of ccache. */
    async aResult(
      project: string,
      key: string,
      value = `value of ${key}`,
    ): Promise<ReceivedResult> {
      const told = toolResult(key, await put(value));
      await granaries.publishResults(project, [told], "a");
      return told;
    },

    /** A client's ActionResult with one output, and its key. */
    async anAction(
      project: string,
      name: string,
      more: MessageInitShape<typeof ActionResultSchema> = {},
    ) {
      const output = await put(`output of ${name}`);
      const bytes = toBinary(
        ActionResultSchema,
        create(ActionResultSchema, {
          outputFiles: [{ path: "out", digest: toDigestMessage(output) }],
          ...more,
        }),
      );
      const value = await put(bytes);
      const action = digestOf(Buffer.from(name));
      const told: ReceivedResult = {
        namespace: "reapi",
        key: digestKey(action),
        value,
        attributes: {},
        blobs: [output],
        costMs: undefined,
      };
      const ends = await granaries.publishResults(project, [told], "a");
      return { told, output, action, bytes, ends };
    },

    async publish(
      build: IndexedBuild,
      entries: readonly IndexEntry[],
      { isComplete = false, by = granaries } = {},
    ): Promise<PublishedIndex> {
      const told = await put(encodeIndex({ base: undefined, entries, removed: [] }));
      return by.publishIndex(build, { entries: told, isComplete, targets: [], principal: "a" });
    },

    entriesOf: async (index: Digest | undefined) =>
      index === undefined ? [] : (await resolveChain(index, (digest) => blobs.get(digest))).entries,

    async stop() {
      await caches.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
export type FarmOfGranaries = Awaited<ReturnType<typeof farmOfGranaries>>;

/** Opens a farm with its own database, which is removed with it. */
export async function freshFarmOfGranaries(options: Parameters<typeof farmOfGranaries>[1] = {}) {
  const db = await freshDb();
  const farm = await farmOfGranaries(db, options);
  return {
    ...farm,
    async stop() {
      await farm.stop();
      await db.close();
    },
  };
}

export function toolResult(
  key: string,
  value: Digest,
  more: Partial<ReceivedResult> = {},
): ReceivedResult {
  return {
    namespace: "ccache",
    key,
    value,
    attributes: {},
    blobs: [],
    costMs: undefined,
    ...more,
  };
}

/** A build of commit `n`, whose first parents are those before it. */
export function buildOf(
  project: string,
  n: number,
  more: Partial<IndexedBuild> = {},
): IndexedBuild {
  const commits = Array.from({ length: Math.min(n, 20) }, (_, back) => sha(n - back));
  return { project, repository: "", commits, tree: "", branch: "", environment: "e1", ...more };
}

export function entryOf(
  { namespace, key, value, blobs }: ReceivedResult,
  firstMs = 0,
  more: Partial<IndexEntry> = {},
): IndexEntry {
  return {
    namespace,
    key,
    blobs: [value, ...blobs],
    firstMs,
    savedMs: undefined,
    inputs: undefined,
    ...more,
  };
}

export function aReport(
  project: string,
  more: Partial<GranaryBuildReport> = {},
): GranaryBuildReport {
  return {
    id: randomUUID(),
    project,
    repository: "",
    commit: sha(1),
    branch: "main",
    dirty: false,
    environment: "e1",
    machine: "m1",
    command: "make",
    startedAt: "2026-11-20T10:00:00.000Z",
    endedAt: "2026-11-20T10:01:00.000Z",
    exitCode: 0,
    indexes: [],
    counts: { local: 1, prefetched: 2, fetched: 3, missed: 4, unreachable: 5 },
    bytes: { local: 1, prefetched: 2, fetched: 3, transferred: 40, wasted: 5, uploaded: 6 },
    lead: null,
    waitedMs: 7,
    savedMs: 8_000,
    truncated: [],
    asked: [],
    ...more,
  };
}
