import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ResultSource } from "#api/granary.ts";
import { mapAtMost } from "#cas/map-at-most.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlaceBlob } from "../store/link-out.ts";
import type { Supplies } from "../supplies/supplies.ts";
import type { DuneBuild } from "./dune-builds.ts";
import type { DuneDigest } from "./dune-digest.ts";
import type { DuneFile, DuneMessage } from "./dune-protocol.ts";
import { duneKey, readDuneKey } from "./dune-record.ts";
import { DuneScheme, type DuneStore, type DuneStores } from "./dune-store.ts";
import { giveRule } from "./give-rule.ts";
import { resultFromStore, takePromoted } from "./keep-rule.ts";
import { type FileWriter, startWriter } from "./start-writer.ts";
import { usedRules } from "./used-rules.ts";
import { isWorthWaiting, msUntilSafe } from "./when-to-begin.ts";

export interface SessionParts {
  readonly granary: GranaryStore;
  readonly place: PlaceBlob;
  readonly supplies: Pick<Supplies, "keep" | "forget">;
  readonly logger: Logger;
}

/** What became of a build's rules, for people. */
export interface DuneTally {
  /** Written into dune's store before or while it ran. */
  given: number;
  /** Made by dune in this build. */
  made: number;
  /** Of those that dune used without making them: found in its store, and in its own build directory. */
  used: number;
  /** Used, and unknown to the granary until now. */
  learnt: number;
  refused: number;
}

/**
 * One build with dune, which may run several times in it: what was fetched ahead is written into dune's store, what
 * dune makes is taken from it, and what it only used is found out in the end.
 */
export interface DuneSession {
  /** Resolves when all that was expected is in dune's store, or will not come. */
  readonly prepared: Promise<void>;
  /**
   * How long dune should wait before it looks for the first rule; 0: it may begin. Undefined while nobody knows what
   * will come.
   */
  outlook(): DuneOutlook | undefined;
  promoted(
    buildDirectory: string,
    message: DuneMessage & { kind: "promote" },
    onDuplicate?: (file: DuneFile) => void,
  ): void;
  /** Another build system put it into the store by itself. */
  stored(key: DuneDigest): void;
  hinted(keys: readonly DuneDigest[]): void;
  /** Looks through a build directory that dune is done with. */
  learn(buildDirectory: string): Promise<void>;
  /** Ends what is in hand. */
  end(): Promise<DuneTally>;
}

export interface DuneOutlook {
  readonly waitMs: number;
  /** Where nobody has asked for it. */
  readonly isWorthWaiting: boolean;
  /** Whether all that has yet to come is dune's: of other tools' results nobody knows when they are needed. */
  readonly isOnlyDune: boolean;
}

/** dune tells of no hit: it is found in its books when it is gone. */
const noticed = { because: undefined, waitedMs: 0, isNotedLater: true } as const;

/** Of so many, most directories of dune's store will hold one. */
const manyRules = 200;
/** Rules on their way into dune's store: while one is written, the next are read and compared with their digests. */
const givesAtOnce = 32;
/** Rules being read at once: all are small files of one disk. */
const readsAtOnce = 4;
/** Results on their way to being durable. */
const keepsAtOnce = 64;

export function startDuneSession(
  parts: SessionParts,
  stores: DuneStores,
  { build, arrivals, known, outlook }: DuneBuild,
): DuneSession {
  const { granary, place, supplies, logger } = parts;
  const keepIn = (store: DuneStore) => ({ project: build.project, granary, store });
  // Only dune 2 has a daemon to tell anything to.
  const daemons = keepIn(stores.v4);
  // dune tells of a rule when it has made it, and of none how long that took. Between a miss that we note and what was
  // made would lie nothing: taken for free, a rule would never be worth its way over the line.
  const who = { project: build.project, build: { ...build, tookMs: () => undefined } };
  const tally: DuneTally = { given: 0, made: 0, used: 0, learnt: 0, refused: 0 };
  const startedAtMs = stores.v4.nowMs();
  const over = new AbortController();
  const noted = new Set<DuneDigest>();
  const given = new Set<string>();
  /** In dune's store, or refused: nobody waits for them any more. */
  const settled = new Set<string>();
  let isPrepared = false;
  const keeping = new Set<Promise<void>>();
  let queue: Promise<void> = Promise.resolve();
  /** Where nothing was fetched for it, there is nothing to write. */
  let writer: FileWriter | undefined;
  const prepared = prepare();
  void known?.then(makeDirectories);

  /** One after the other: dune runs meanwhile, and shall have the machine. */
  function after(work: () => Promise<void>): Promise<void> {
    queue = queue.then(work).catch((reason: unknown) => {
      logger.warn({ build: build.id, reason: messageOf(reason) }, "a rule of dune's was not kept");
    });
    return queue;
  }

  async function prepare(): Promise<void> {
    const running = new Set<Promise<void>>();
    try {
      for await (const result of arrivals(over.signal)) {
        const one: Promise<void> = give(result).finally(() => running.delete(one));
        running.add(one);
        if (running.size >= givesAtOnce) await Promise.race(running);
      }
    } catch (reason) {
      logger.info(
        { build: build.id, reason: messageOf(reason) },
        "dune's results came to an end early",
      );
    }
    await Promise.all(running);
    isPrepared = true;
  }

  /**
   * While the farm looks for the first results, nobody has anything to do; and a directory costs four times what a file
   * does.
   */
  async function makeDirectories(): Promise<void> {
    if (over.signal.aborted) return;
    const coming = outlook?.()?.expected.filter(({ isHere }) => !isHere) ?? [];
    for (const scheme of DuneScheme) {
      const named = coming.flatMap(({ key }) => readDuneKey(key) ?? []);
      const keys = named.filter((one) => one.scheme === scheme).map(({ key }) => key);
      if (keys.length < manyRules) continue;
      writer ??= startWriter(stores[scheme].temp);
      // What keeps us from it is said when the first file is put there.
      await writer.makeDirectories(stores[scheme].directoriesFor(keys)).catch(() => {});
    }
  }

  async function give(result: GranaryResult): Promise<void> {
    try {
      writer ??= startWriter(stores.v4.temp);
      const how = await giveRule({ granary, place, writer, stores }, result);
      if (how !== "given") return;
      given.add(result.key);
      tally.given += 1;
    } catch (reason) {
      tally.refused += 1;
      logger.warn(
        { build: build.id, key: result.key, reason: messageOf(reason) },
        "refused for dune",
      );
      // A full disk is nobody's lie.
      if (reason instanceof Fault && reason.code === "data_loss")
        await supplies.forget(who, result);
    } finally {
      settled.add(result.key);
    }
  }

  function lookOut(): DuneOutlook | undefined {
    if (isPrepared) return { waitMs: 0, isWorthWaiting: true, isOnlyDune: true };
    const seen = outlook?.();
    if (seen === undefined) return undefined;
    const ofDune = seen.expected.filter(({ key }) => key.namespace === "dune");
    const rules = ofDune.map(({ key, ...rule }) => ({ ...rule, isThere: settled.has(key.key) }));
    const others = seen.expected.filter(({ key, isHere }) => key.namespace !== "dune" && !isHere);
    // They share the line, and go first or last, as it comes.
    const othersBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
    const othersMs = (othersBytes / Math.max(1, seen.line.bytesPerSecond)) * 1_000;
    const soonMs = msUntilSafe(rules, seen.line);
    const waitMs = soonMs === 0 ? 0 : soonMs + othersMs;
    return {
      waitMs,
      isWorthWaiting: isWorthWaiting(rules, waitMs),
      isOnlyDune: others.length === 0,
    };
  }

  function sourceOf(key: ReturnType<typeof duneKey>): ResultSource {
    return given.has(key.key) && build.prefetch?.leadMs(key) !== undefined ? "prefetched" : "local";
  }

  /** Whether it was made in this build, by a dune that tells no daemon. */
  async function isYoung(store: DuneStore, digest: DuneDigest): Promise<boolean> {
    return ((await store.writtenAtMs(digest)) ?? 0) > startedAtMs;
  }

  /** dune used it: it is part of what this build wants, whoever made it. */
  async function noteUse(store: DuneStore, digest: DuneDigest): Promise<void> {
    const key = duneKey(store.scheme, digest);
    if (!given.has(key.key) && (await isYoung(store, digest))) {
      const result = await resultFromStore(keepIn(store), digest);
      if (result !== undefined) await noteMade(result);
      return;
    }
    let result = granary.has(build.project, key)
      ? await granary.find(build.project, key)
      : undefined;
    if (result === undefined) {
      result = await resultFromStore(keepIn(store), digest);
      if (result === undefined) return;
      tally.learnt += 1;
      build.asked(key, { ...noticed, source: "local", result });
      await keepBeside(result);
    } else {
      build.asked(key, { ...noticed, source: sourceOf(key), result });
    }
    tally.used += 1;
    for (const blob of result.blobs) build.askedBlob(blob);
  }

  async function noteMade(result: GranaryResult): Promise<void> {
    const because = build.prefetch?.whyNot(result) ?? "not-indexed";
    build.asked(result, { source: "missed", because, waitedMs: 0, result: undefined });
    tally.made += 1;
    await keepBeside(result);
  }

  /** What is made durable at the same time costs one sync: nobody waits for a single one. */
  async function keepBeside(result: GranaryResult): Promise<void> {
    const one: Promise<void> = supplies.keep(who, result).finally(() => keeping.delete(one));
    keeping.add(one);
    if (keeping.size >= keepsAtOnce) await Promise.race(keeping);
  }

  return {
    prepared,
    outlook: lookOut,

    promoted(buildDirectory, { key, files, duplication }, onDuplicate) {
      noted.add(key);
      void after(async () => {
        const link = duplication !== "copy";
        const promoted = { key, files, buildDirectory, link, onDuplicate };
        const result = await takePromoted(daemons, promoted);
        if (result !== undefined) await noteMade(result);
      });
    },

    stored(key) {
      noted.add(key);
      void after(async () => {
        const result = await resultFromStore(daemons, key);
        if (result !== undefined) await noteMade(result);
      });
    },

    hinted(keys) {
      build.prefetch?.hint(keys.map((key) => duneKey("v4", key)));
    },

    async learn(buildDirectory) {
      // dune keeps the books of rules that are gone from the sources, and removes what they made.
      const isStillMade = async (store: DuneStore, key: DuneDigest): Promise<boolean> => {
        const path = (await store.rule(key))?.[0]?.path;
        if (path === undefined) return false;
        // dune 3 says only a name.
        return store.scheme === "v5" || existsSync(join(buildDirectory, path));
      };
      // What was promoted a moment ago is in the store only now.
      await queue;
      for (const store of [stores.v4, stores.v5]) {
        const known = await store.keys();
        const used = await usedRules(buildDirectory, (key) => known.has(key));
        const unnoted = used.filter((key) => !noted.has(key));
        const still = await mapAtMost(readsAtOnce, unnoted, (key) => isStillMade(store, key));
        const fresh = unnoted.filter((_, index) => still[index]);
        for (const key of fresh) noted.add(key);
        await mapAtMost(readsAtOnce, fresh, async (key) => {
          await noteUse(store, key).catch((reason: unknown) => {
            const why = { build: build.id, key, reason: messageOf(reason) };
            logger.warn(why, "a rule's use was not noted");
          });
        });
      }
    },

    async end() {
      over.abort();
      await prepared;
      await queue;
      await Promise.all(keeping);
      await writer?.stop();
      return tally;
    },
  };
}
