import { fromBinary } from "@bufbuild/protobuf";
import { type FoundResult, resultsOfActions, touchResultsOf } from "#actions/many-results.store.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { blobsOfResult } from "#actions/result-blobs.ts";
import { entriesNamed, touchEntries } from "#caches/cache-entry.store.ts";
import type { CacheEntry } from "#caches/tool-rules.ts";
import { digestOf } from "#cas/digest-of.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { Clock } from "#core/clock.ts";
import { type Digest, digestKey, functionOf, uniqueDigests } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { digestNamed } from "./digest-named.ts";
import { fromAttributes } from "./entry-attributes.ts";
import type { TreesOf } from "./project-parts.ts";

/** A result that the farm has, of any tool. */
export interface FarmResult extends ResultKey {
  /** For `reapi`, the digest of the ActionResult's bytes. */
  readonly value: Digest;
  readonly attributes: Readonly<Record<string, string>>;
  /** All blobs that it refers to, besides its value. */
  readonly blobs: readonly Digest[];
  readonly costMs: number | undefined;
  /** The value itself, if the farm stores it in a row and not as a blob. */
  readonly bytes: Uint8Array | undefined;
}

export interface ProjectResults {
  /** Returns the results that exist; does not check their blobs. Runs one statement for each kind, however many keys. */
  named(project: string, keys: readonly ResultKey[]): Promise<FarmResult[]>;
  /** Returns the results all of whose blobs are in the store. Their values are then blobs, too. */
  whole(project: string, keys: readonly ResultKey[]): Promise<FarmResult[]>;
  /** Stores as blobs those values that are rows of the database. */
  storeValues(project: string, results: readonly FarmResult[]): Promise<void>;
}

/** More blobs at once would block the event loop, and would not fit into a message. */
const requestedAtOnce = 4_096;
const mostBlobsOfResult = 20_000;
const storedAtOnce = 16;
const treesAtOnce = 8;
const touchAfterMs = 60 * 60_000;

/** The rows that some keys name: results of actions, and entries of the caches of build tools. */
interface FoundRows {
  readonly rows: readonly FoundResult[];
  readonly entries: readonly CacheEntry[];
}

export function projectResults(parts: {
  readonly db: Db;
  readonly treesOf: TreesOf;
  readonly clock: Clock;
  readonly domain: TrustDomain;
}): ProjectResults {
  const { db, treesOf, clock } = parts;
  const domains = readableDomains(parts.domain);

  async function find(project: string, keys: readonly ResultKey[]): Promise<FoundRows> {
    const actions = keys.flatMap(({ namespace, key }) =>
      namespace === "reapi" ? (digestNamed(key) ?? []) : [],
    );
    const names = keys.flatMap(({ namespace, key }) =>
      namespace === "reapi" ? [] : [{ project, tool: namespace, key, reader: parts.domain }],
    );
    const [rows, entries] = await Promise.all([
      resultsOfActions(db, project, domains, actions),
      names.length === 0 ? [] : entriesNamed(db, names),
    ]);
    // In the order of domains: the client's own domain comes before `protected`.
    const first = new Map<string, FoundResult>();
    for (const row of await treesOf(project).seals.thatHold(rows)) {
      const key = digestKey(row.actionDigest);
      if (!first.has(key)) first.set(key, row);
    }
    return { rows: [...first.values()], entries };
  }

  async function resultsIn(project: string, found: FoundRows): Promise<FarmResult[]> {
    const turn = takingTurns();
    const trees = treesOf(project);
    const ofActions = await mapAtMost(treesAtOnce, found.rows, async (row) => {
      await turn();
      return fromRow(trees, row);
    });
    return [...ofActions.flatMap((each) => each ?? []), ...found.entries.map(fromEntry)];
  }

  async function missingOf(project: string, digests: readonly Digest[]): Promise<Set<string>> {
    const turn = takingTurns();
    const { store } = treesOf(project);
    const once = uniqueDigests(digests);
    const missing = new Set<string>();
    for (let at = 0; at < once.length; at += requestedAtOnce) {
      await turn();
      for (const digest of await store.findMissing(once.slice(at, at + requestedAtOnce))) {
        missing.add(digestKey(digest));
      }
    }
    return missing;
  }

  async function storeValues(project: string, results: readonly FarmResult[]): Promise<void> {
    const { store } = treesOf(project);
    const rows = results.filter(({ bytes }) => bytes !== undefined);
    const missing = await missingOf(
      project,
      rows.map(({ value }) => value),
    );
    await mapAtMost(
      storedAtOnce,
      rows.filter(({ value }) => missing.has(digestKey(value))),
      async ({ value, bytes }) => bytes && store.put(value, bytes),
    );
  }

  return {
    storeValues,
    named: async (project, keys) => resultsIn(project, await find(project, keys)),

    async whole(project, keys) {
      const found = await find(project, keys);
      const results = await resultsIn(project, found);
      const missing = await missingOf(
        project,
        results.flatMap(({ value, bytes, blobs }) =>
          bytes === undefined ? [value, ...blobs] : blobs,
        ),
      );
      const whole = results.filter((result) => isWhole(result, missing));
      await storeValues(project, whole);
      const { actions, entries } = toTouch(found, whole, clock.now());
      await Promise.all([touchResultsOf(db, project, domains, actions), touchMany(db, entries)]);
      return whole;
    },
  };
}

/** Returns whether all blobs of a result are in the store, and few enough for one answer. */
function isWhole({ value, bytes, blobs }: FarmResult, missing: ReadonlySet<string>): boolean {
  return (
    (bytes !== undefined || !missing.has(digestKey(value))) &&
    blobs.length <= mostBlobsOfResult &&
    !blobs.some((blob) => missing.has(digestKey(blob)))
  );
}

/** Returns the rows of used results whose last recorded use is long ago. */
function toTouch({ rows, entries }: FoundRows, used: readonly FarmResult[], now: Date) {
  const keys = new Set(used.map(keyText));
  const isDue = ({ lastUsedAt }: { readonly lastUsedAt: Date }) =>
    now.getTime() - lastUsedAt.getTime() > touchAfterMs;
  return {
    actions: rows
      .filter(isDue)
      .map(({ actionDigest }) => actionDigest)
      .filter((action) => keys.has(keyText({ namespace: "reapi", key: digestKey(action) }))),
    entries: entries
      .filter(isDue)
      .filter(({ tool, key }) => keys.has(keyText({ namespace: tool, key }))),
  };
}

async function touchMany(db: Db, entries: readonly CacheEntry[]): Promise<void> {
  if (entries.length > 0) await touchEntries(db, entries);
}

async function fromRow(trees: OutputTrees, row: FoundResult): Promise<FarmResult | undefined> {
  const result = fromBinary(ActionResultSchema, row.result);
  const blobs = await namedBy(trees, result, row);
  if (blobs === undefined) return undefined;
  return {
    namespace: "reapi",
    key: digestKey(row.actionDigest),
    value: digestOf(row.result),
    attributes: {},
    blobs,
    costMs: costOf(result),
    bytes: row.result,
  };
}

/** Returns all blobs that a result names; undefined when the result cannot be read. */
async function namedBy(
  trees: OutputTrees,
  result: ActionResult,
  { actionDigest }: FoundResult,
): Promise<Digest[] | undefined> {
  try {
    return await blobsOfResult(trees, result, functionOf(actionDigest));
  } catch (reason) {
    if (reason instanceof Fault && unreadable.has(reason.code)) return undefined;
    throw reason;
  }
}

const unreadable: ReadonlySet<Fault["code"]> = new Set([
  "data_loss",
  "invalid_argument",
  "resource_exhausted",
]);

/** Returns how long the execution took, in ms, as its worker reported it. */
function costOf({ executionMetadata: metadata }: ActionResult): number | undefined {
  const start = metadata?.executionStartTimestamp;
  const end = metadata?.executionCompletedTimestamp;
  if (start === undefined || end === undefined) return undefined;
  const ms = Number(end.seconds - start.seconds) * 1_000 + (end.nanos - start.nanos) / 1e6;
  return ms >= 0 && ms <= 0xffff_ffff ? Math.round(ms) : undefined;
}

function fromEntry(entry: CacheEntry): FarmResult {
  return {
    namespace: entry.tool,
    key: entry.key,
    value: entry.digest,
    bytes: undefined,
    ...fromAttributes(entry.attributes),
  };
}
