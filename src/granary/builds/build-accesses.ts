import type { LateReason, ResultSource } from "#api/granary.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { ResultRequest } from "./build.ts";

/** A result that a build requested or made. */
export interface ResultAccess {
  readonly key: ResultKey;
  /** From the build's start until the first request, in ms. */
  readonly atMs: number;
  readonly source: ResultSource;
  readonly because: LateReason | undefined;
  readonly waitedMs: number;
  readonly leadMs: number | undefined;
  readonly made: boolean;
  /** Undefined until it was found or made. */
  readonly value: Digest | undefined;
  /** The blobs of the result that the build read or wrote; all of them for a result that it made. */
  readonly blobs: readonly Digest[];
  readonly costMs: number | undefined;
  readonly inputs: readonly string[] | undefined;
  /** The repository that it belongs to: the one that is built when undefined, otherwise a nested one, from 1. */
  readonly repository: number | undefined;
}

export interface BuildAccesses {
  asked(key: ResultKey, what: ResultRequest, atMs: number, leadMs: number | undefined): void;
  requestedBlob(digest: Digest): void;
  made(result: GranaryResult, atMs: number): void;
  /** Records the paths of the repository that a result was made from, where the tool reports them. */
  knowsInputs(key: ResultKey, inputs: readonly string[]): void;
  /** Records that a result belongs to a nested repository, by its position in the build's facts, from 1. */
  belongsTo(key: ResultKey, nested: number): void;
  /** In order of first use. */
  all(): Iterable<ResultAccess>;
  /** Returns the entries that are new or changed since the last call. */
  changed(): ResultAccess[];
  readonly truncated: boolean;
}

/** A memory limit. No correct build requests more results. */
const mostResults = 500_000;
/** A read of a blob is noted in at most this many results, as an empty file may be in all of them. */
const mostOfOneBlob = 64;

/** Records one build's requests in memory. The first request of a result counts; later facts are added to it. */
export function startBuildAccesses(
  before: readonly ResultAccess[] = [],
  limits = { results: mostResults },
): BuildAccesses {
  const results = new Map<string, ResultAccess>();
  // The results that refer to a blob that was not read yet.
  const namedBy = new Map<string, string[]>();
  const fresh = new Set<string>();
  let truncated = false;
  for (const one of before) results.set(keyText(one.key), one);

  function put(name: string, one: ResultAccess): void {
    if (!results.has(name) && results.size >= limits.results) {
      truncated = true;
      return;
    }
    results.set(name, one);
    fresh.add(name);
  }

  function listen(name: string, result: GranaryResult): void {
    for (const digest of result.blobs) {
      const key = digestKey(digest);
      const names = namedBy.get(key) ?? [];
      if (names.length < mostOfOneBlob && !names.includes(name)) names.push(name);
      namedBy.set(key, names);
    }
  }

  return {
    asked(key, what, atMs, leadMs) {
      const name = keyText(key);
      const known = results.get(name);
      const { result } = what;
      if (result !== undefined) listen(name, result);
      if (known === undefined) {
        put(name, firstRequest(key, what, atMs, leadMs));
        return;
      }
      const waitedMs = known.waitedMs + what.waitedMs;
      if (waitedMs === known.waitedMs && (known.value !== undefined || result === undefined))
        return;
      put(name, {
        ...known,
        waitedMs,
        value: known.value ?? result?.value,
        costMs: known.costMs ?? result?.costMs,
      });
    },

    requestedBlob(digest) {
      const key = digestKey(digest);
      for (const name of namedBy.get(key) ?? []) {
        const known = results.get(name);
        if (known !== undefined) put(name, { ...known, blobs: [...known.blobs, digest] });
      }
      namedBy.delete(key);
    },

    made(result, atMs) {
      const name = keyText(result);
      put(name, madeByBuild(results.get(name), result, atMs));
    },

    knowsInputs(key, inputs) {
      const name = keyText(key);
      const known = results.get(name);
      if (known !== undefined) put(name, { ...known, inputs });
    },

    belongsTo(key, repository) {
      const name = keyText(key);
      const known = results.get(name);
      if (known !== undefined && known.repository !== repository)
        put(name, { ...known, repository });
    },

    all: () => results.values(),

    changed() {
      const names = [...fresh];
      fresh.clear();
      return names.flatMap((name) => results.get(name) ?? []);
    },

    get truncated() {
      return truncated;
    },
  };
}

/** Returns the entry of a result that the build requests for the first time. */
function firstRequest(
  { namespace, key }: ResultKey,
  { source, because, waitedMs, result }: ResultRequest,
  atMs: number,
  leadMs: number | undefined,
): ResultAccess {
  return {
    key: { namespace, key },
    atMs,
    source,
    because,
    waitedMs,
    leadMs: source === "prefetched" ? (leadMs ?? 0) : undefined,
    made: false,
    value: result?.value,
    blobs: [],
    costMs: result?.costMs,
    inputs: undefined,
    repository: undefined,
  };
}

/** Returns the entry of a result that the build made. An earlier request keeps its time and its source. */
function madeByBuild(
  known: ResultAccess | undefined,
  { namespace, key, value, blobs, costMs }: GranaryResult,
  atMs: number,
): ResultAccess {
  return {
    key: { namespace, key },
    atMs: known?.atMs ?? atMs,
    source: known?.source ?? "missed",
    because: known?.because ?? (known === undefined ? "never-made" : undefined),
    waitedMs: known?.waitedMs ?? 0,
    leadMs: known?.leadMs,
    made: true,
    value,
    blobs,
    costMs: costMs ?? known?.costMs,
    inputs: known?.inputs,
    repository: known?.repository,
  };
}

/** Returns whether the build received the result without making it. */
export function isHit({ source }: ResultAccess): boolean {
  return source === "local" || source === "prefetched" || source === "fetched";
}

/**
 * Returns the results that the index of one of a build's repositories lists. 0 is the repository that is built: a build
 * of its commit needs all of them, also those of nested repositories.
 */
export function ofRepository(all: Iterable<ResultAccess>, position: number): ResultAccess[] {
  return position === 0 ? [...all] : [...all].filter(({ repository }) => repository === position);
}

export function bytesOf({ value, blobs }: ResultAccess): number {
  return blobs.reduce((sum, blob) => sum + blob.sizeBytes, value?.sizeBytes ?? 0);
}

/** Returns the entries for the commit's index: all results that exist, both hits and results that the build made. */
export function indexEntries(accesses: Iterable<ResultAccess>): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const { key, value, blobs, atMs, costMs, inputs } of accesses) {
    if (value === undefined) continue;
    entries.push({ ...key, blobs: [value, ...blobs], firstMs: atMs, savedMs: costMs, inputs });
  }
  return entries.sort((a, b) => a.firstMs - b.firstMs);
}
