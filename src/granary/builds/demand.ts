import type { LateBecause, ResultSource } from "#api/granary.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Asked } from "./build.ts";

/** A result that a build asked for, or made: what is known of it so far. */
export interface Demanded {
  readonly key: ResultKey;
  /** From the build's start until it was first asked for. */
  readonly atMs: number;
  readonly source: ResultSource;
  readonly because: LateBecause | undefined;
  readonly waitedMs: number;
  readonly leadMs: number | undefined;
  readonly made: boolean;
  /** Undefined until it was found or made. */
  readonly value: Digest | undefined;
  /** Of what it names, that which was read or written; all of what was made. */
  readonly blobs: readonly Digest[];
  readonly costMs: number | undefined;
  readonly inputs: readonly string[] | undefined;
}

export interface Demand {
  asked(key: ResultKey, what: Asked, atMs: number, leadMs: number | undefined): void;
  askedBlob(digest: Digest): void;
  made(result: GranaryResult, atMs: number): void;
  /** Paths of the repository that a result was made of, where its tool says. */
  knowsInputs(key: ResultKey, inputs: readonly string[]): void;
  /** In order of first use. */
  all(): Iterable<Demanded>;
  /** What is new or otherwise since the last call. */
  changed(): Demanded[];
  readonly truncated: boolean;
}

/** A build asks for more only when something is wrong; memory stays bounded then. */
const mostResults = 500_000;
/** So many results of one blob are told of it: an empty file may be in all of them. */
const mostOfOneBlob = 64;

/** What one build asks for, in memory. The first word about a result counts, what is learnt later is added. */
export function startDemand(
  before: readonly Demanded[] = [],
  limits = { results: mostResults },
): Demand {
  const results = new Map<string, Demanded>();
  // Which results name a blob that was not read yet.
  const namedBy = new Map<string, string[]>();
  const fresh = new Set<string>();
  let truncated = false;
  for (const one of before) results.set(keyText(one.key), one);

  function put(name: string, one: Demanded): void {
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
        put(name, {
          key: { namespace: key.namespace, key: key.key },
          atMs,
          source: what.source,
          because: what.because,
          waitedMs: what.waitedMs,
          leadMs: what.source === "prefetched" ? (leadMs ?? 0) : undefined,
          made: false,
          value: result?.value,
          blobs: [],
          costMs: result?.costMs,
          inputs: undefined,
        });
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

    askedBlob(digest) {
      const key = digestKey(digest);
      for (const name of namedBy.get(key) ?? []) {
        const known = results.get(name);
        if (known !== undefined) put(name, { ...known, blobs: [...known.blobs, digest] });
      }
      namedBy.delete(key);
    },

    made(result, atMs) {
      const name = keyText(result);
      const known = results.get(name);
      put(name, {
        key: { namespace: result.namespace, key: result.key },
        atMs: known?.atMs ?? atMs,
        source: known?.source ?? "missed",
        because: known?.because ?? (known === undefined ? "never-made" : undefined),
        waitedMs: known?.waitedMs ?? 0,
        leadMs: known?.leadMs,
        made: true,
        value: result.value,
        blobs: result.blobs,
        costMs: result.costMs ?? known?.costMs,
        inputs: known?.inputs,
      });
    },

    knowsInputs(key, inputs) {
      const name = keyText(key);
      const known = results.get(name);
      if (known !== undefined) put(name, { ...known, inputs });
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

/** Whether the build got a result without making it. */
export function isHit({ source }: Demanded): boolean {
  return source === "local" || source === "prefetched" || source === "fetched";
}

export function bytesOf({ value, blobs }: Demanded): number {
  return blobs.reduce((sum, blob) => sum + blob.sizeBytes, value?.sizeBytes ?? 0);
}

/** What goes to the commit's index: all that there is of what was asked for, hits and executions alike. */
export function indexEntries(demand: Iterable<Demanded>): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const { key, value, blobs, atMs, costMs, inputs } of demand) {
    if (value === undefined) continue;
    entries.push({ ...key, blobs: [value, ...blobs], firstMs: atMs, savedMs: costMs, inputs });
  }
  return entries.sort((a, b) => a.firstMs - b.firstMs);
}
