import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ResultSource } from "#api/granary.ts";
import { messageOf } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlaceBlob } from "../store/link-out.ts";
import type { TieredCache } from "../tiered-cache/tiered-cache.ts";
import type { DuneBuild } from "./dune-builds.ts";
import type { DuneDigest } from "./dune-digest.ts";
import type { DuneFile, DuneMessage, DuneRepository } from "./dune-protocol.ts";
import { duneKey } from "./dune-record.ts";
import type { DuneStore, DuneStores } from "./dune-store.ts";
import { linkRule } from "./linked-rule.ts";
import {
  type DuneRepositories,
  noRepositories,
  repositoryOfRule,
  repositoryRoots,
} from "./rule-repository.ts";
import { resultFromStore, takePromoted } from "./rule-to-result.ts";
import type { IdleRunner } from "./run-when-idle.ts";
import { usedRules } from "./used-rules.ts";
import { type DuneOutlook, writeRules } from "./write-rules.ts";

export interface SessionParts {
  readonly granary: GranaryStore;
  readonly place: PlaceBlob;
  readonly tieredCache: Pick<TieredCache, "keep" | "forget">;
  readonly logger: Logger;
}

/** The counts of a build's rules, for display. */
export interface DuneTally {
  /** Results that were written into dune's store before or during its run. */
  given: number;
  /** Results that dune made in this build. */
  made: number;
  /** Results that dune used without making them: it found them in its store or in its build directory. */
  used: number;
  /** Used results that the granary did not know before. */
  learnt: number;
  refused: number;
}

/** The requests of a build's dune processes, counted when each process has ended. */
export interface DuneSoFar {
  readonly made: number;
  /** Results that dune found in its store, or in its own build directory. */
  readonly used: number;
}

/**
 * One build with dune. dune may run several times in it. Prefetched results are written into dune's store; results that
 * dune makes are taken from it; results that dune only used are found at the end.
 */
export interface DuneSession {
  /**
   * Resolves when all expected results, and those that the build's dune processes have made so far, are in dune's store
   * or will not arrive.
   */
  prepared(): Promise<void>;
  /**
   * Returns how long dune should wait before its first lookup; 0: it may begin. Undefined while the expected results
   * are unknown.
   */
  outlook(): DuneOutlook | undefined;
  /** Notes the repositories of the sources in a build directory. */
  repositories(buildDirectory: string, repositories: readonly DuneRepository[]): void;
  promoted(
    buildDirectory: string,
    message: DuneMessage & { kind: "promote" },
    onDuplicate?: (file: DuneFile) => void,
  ): void;
  /** Records a rule that dune has already put into its store itself. */
  stored(key: DuneDigest): void;
  hinted(keys: readonly DuneDigest[]): void;
  /**
   * Called when one dune process of the build has ended, so that there is time to store its
   * results.
   */
  left(): void;
  /**
   * Records the results that dune used, from a build directory in which dune has finished. The directory may be removed
   * when this resolves.
   */
  learn(buildDirectory: string): Promise<void>;
  soFar(): DuneSoFar;
  /** Finishes the work in progress. */
  end(): Promise<DuneTally>;
}

/** dune reports no hits: they are found in its own records after it has ended. */
const noticed = { because: undefined, waitedMs: 0, isNotedLater: true } as const;

/** The estimated time to fetch one result, and to make it again. */
const takeMs = 1;
const makeMs = 6;
/** The number of rules that are read at once; all are small files on one disk. */
const readsAtOnce = 4;
/** The number of results that are being made durable at once. */
const keepsAtOnce = 64;

/**
 * `made`: the queue of results that dune processes on this machine made or used for these stores,
 * and that must still be stored.
 */
export function startDuneSession(
  parts: SessionParts,
  stores: DuneStores,
  made: IdleRunner,
  duneBuild: DuneBuild,
): DuneSession {
  const { build } = duneBuild;
  const { granary, place, tieredCache, logger } = parts;
  const keepIn = (store: DuneStore) => ({ project: build.project, granary, store });
  // Only dune 2 has a daemon that it sends rules to.
  const daemons = keepIn(stores.v4);
  // dune announces a rule after making it, without the time that it took. The time from a recorded miss to the
  // announcement is nearly zero; with that as its cost, no rule would ever be transferred.
  const who = { project: build.project, build: { ...build, tookMs: () => undefined } };
  const tally = { made: 0, used: 0, learnt: 0 };
  const startedAtMs = stores.v4.nowMs();
  const noted = new Set<DuneDigest>();
  /** The number of rules that dune did not announce. */
  let found = 0;
  const keeping = new Set<Promise<void>>();
  /** Of each build directory, once dune has reported them. */
  const repositories = new Map<string, Promise<DuneRepositories>>();
  const forget = (result: GranaryResult) => tieredCache.forget(who, result);
  const given = writeRules({ granary, place, forget, logger }, stores, duneBuild);

  function keepLater(work: () => Promise<void>): void {
    made.put(() =>
      work().catch((reason: unknown) => {
        const why = { build: build.id, reason: messageOf(reason) };
        logger.warn(why, "a rule of dune was not stored");
      }),
    );
  }

  /**
   * A dune may use results that an earlier dune has made, also in another build. So it also waits until these are
   * stored.
   */
  function outlook(): DuneOutlook | undefined {
    const seen = given.outlook();
    const { undone } = made;
    if (seen === undefined || undone === 0) return seen;
    return {
      ...seen,
      waitMs: seen.waitMs + undone * takeMs,
      missing: seen.missing + undone,
      worthMs: seen.worthMs + undone * makeMs,
    };
  }

  function sourceOf(key: ReturnType<typeof duneKey>): ResultSource {
    return given.has(key.key) && build.prefetch?.leadMs(key) !== undefined ? "prefetched" : "local";
  }

  /** Notes the repository of a rule, which the build has requested or made. */
  async function notePlace(
    result: GranaryResult,
    buildDirectory: string,
    rule: { readonly repository?: number | undefined; readonly files: readonly DuneFile[] },
  ): Promise<void> {
    const known = (await repositories.get(buildDirectory)) ?? noRepositories;
    const nested = repositoryOfRule(known, buildDirectory, rule);
    if (nested > 0) duneBuild.belongsTo?.(result, nested);
  }

  /** Returns whether the rule was made in this build by a dune without a daemon. */
  async function isYoung(store: DuneStore, digest: DuneDigest): Promise<boolean> {
    return ((await store.writtenAtMs(digest)) ?? 0) > startedAtMs;
  }

  /** Records that dune used a rule: this build needs it, whoever made it. */
  async function noteUse(store: DuneStore, digest: DuneDigest, directory: string): Promise<void> {
    const result = await noteUseOf(store, digest);
    if (result === undefined || !repositories.has(directory)) return;
    await notePlace(result, directory, { files: (await store.rule(digest)) ?? [] });
  }

  async function noteUseOf(
    store: DuneStore,
    digest: DuneDigest,
  ): Promise<GranaryResult | undefined> {
    const key = duneKey(store.scheme, digest);
    if (!given.has(key.key) && (await isYoung(store, digest))) {
      const result = await resultFromStore(keepIn(store), digest);
      if (result !== undefined) await noteMade(result);
      return result;
    }
    let result = granary.has(build.project, key)
      ? await granary.find(build.project, key)
      : undefined;
    if (result === undefined) {
      result = await resultFromStore(keepIn(store), digest);
      if (result === undefined) return undefined;
      tally.learnt += 1;
      build.asked(key, { ...noticed, source: "local", result });
      await keepBeside(result);
    } else {
      build.asked(key, { ...noticed, source: sourceOf(key), result });
    }
    tally.used += 1;
    for (const blob of result.blobs) build.requestedBlob(blob);
    return result;
  }

  async function noteMade(result: GranaryResult, agoMs = 0): Promise<void> {
    const because = build.prefetch?.whyNot(result) ?? "not-indexed";
    build.asked(result, { source: "missed", because, waitedMs: 0, result: undefined, agoMs });
    tally.made += 1;
    await keepBeside(result);
  }

  /**
   * Makes a result durable together with others in one sync, because nothing waits for a single
   * result.
   */
  async function keepBeside(result: GranaryResult): Promise<void> {
    const one: Promise<void> = tieredCache.keep(who, result).finally(() => keeping.delete(one));
    keeping.add(one);
    if (keeping.size >= keepsAtOnce) await Promise.race(keeping);
  }

  return {
    async prepared() {
      await Promise.all([given.prepared, made.now()]);
    },
    outlook,

    repositories(buildDirectory, reported) {
      const all = repositoryRoots(buildDirectory, reported);
      const absolute = reported.map((each, index) => ({ ...each, directory: all[index] ?? "" }));
      const uses = duneBuild.uses?.(absolute) ?? Promise.resolve([]);
      const known = uses.then(
        (nested) => {
          // Their results are expected only now.
          if (nested.length > 0) given.more();
          return { all, nested };
        },
        (reason: unknown) => {
          const why = { build: build.id, reason: messageOf(reason) };
          logger.warn(why, "the nested repositories of a dune are not known");
          return noRepositories;
        },
      );
      repositories.set(buildDirectory, known);
    },

    promoted(buildDirectory, { key, files, duplication, repository }, onDuplicate) {
      noted.add(key);
      const announcedAt = performance.now();
      const link = duplication !== "copy";
      // A dune that needs reports of duplicates must get them while it is connected.
      const mayWait = link && onDuplicate === undefined;
      const held = mayWait ? linkRule(stores.v4.temp, buildDirectory, files) : undefined;
      const at = held?.at ?? ((path: string) => join(buildDirectory, path));
      keepLater(async () => {
        try {
          const result = await takePromoted(daemons, { key, files, at, link, onDuplicate });
          if (result === undefined) return;
          await noteMade(result, performance.now() - announcedAt);
          await notePlace(result, buildDirectory, { repository, files });
        } finally {
          held?.release();
        }
      });
      // Files that cannot be linked are stored at once, while they still exist.
      if (held === undefined) void made.now();
    },

    stored(key) {
      noted.add(key);
      keepLater(async () => {
        const result = await resultFromStore(daemons, key);
        if (result !== undefined) await noteMade(result);
      });
    },

    hinted(keys) {
      build.prefetch?.hint(keys.map((key) => duneKey("v4", key)));
    },

    left: () => void made.now(),

    async learn(buildDirectory) {
      // dune keeps records of rules that were removed from the sources, but it removes their
      // outputs.
      const isStillMade = async (store: DuneStore, key: DuneDigest): Promise<boolean> => {
        const path = (await store.rule(key))?.[0]?.path;
        if (path === undefined) return false;
        // dune 3 stores only the file's name, which is not a path.
        return store.scheme === "v5" || existsSync(join(buildDirectory, path));
      };
      for (const store of [stores.v4, stores.v5]) {
        const known = await store.keys();
        const used = await usedRules(buildDirectory, (key) => known.has(key));
        const unnoted = used.filter((key) => !noted.has(key));
        const still = await mapAtMost(readsAtOnce, unnoted, (key) => isStillMade(store, key));
        const fresh = unnoted.filter((_, index) => still[index]);
        for (const key of fresh) {
          noted.add(key);
          found += 1;
          keepLater(() => noteUse(store, key, buildDirectory));
        }
      }
    },

    soFar: () => ({ made: noted.size - found, used: found }),

    async end() {
      await given.end();
      await made.now();
      await Promise.all(keeping);
      return { ...tally, ...given.count() };
    },
  };
}
