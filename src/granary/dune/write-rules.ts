import type { Logger } from "pino";
import { Fault, messageOf } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Outlook } from "../prefetch/start-prefetch.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlaceBlob } from "../store/link-out.ts";
import type { DuneBuild } from "./dune-builds.ts";
import { readDuneKey } from "./dune-record.ts";
import { DuneScheme, type DuneStores } from "./dune-store.ts";
import { msUntilSafe, msWorthWaiting } from "./safe-start-time.ts";
import { type FileWriter, startWriter } from "./start-writer.ts";
import { writeRule } from "./write-rule.ts";

interface WriteRulesParts {
  readonly granary: GranaryStore;
  readonly place: PlaceBlob;
  /** Called for a result with wrong content. */
  readonly forget: (result: GranaryResult) => Promise<void>;
  readonly logger: Logger;
}

export interface DuneOutlook {
  readonly waitMs: number;
  /** The number of missing rules. */
  readonly missing: number;
  /** The longest worthwhile wait without an explicit request, in ms. */
  readonly worthMs: number;
  /**
   * Whether all results that are still missing belong to dune. For other tools' results, the time of their use is
   * unknown.
   */
  readonly isOnlyDune: boolean;
}

/** The rules of a build that are written into dune's store before dune looks for them. */
interface WrittenRules {
  /** Resolves when all expected rules are in dune's store or will not arrive. */
  readonly prepared: Promise<void>;
  /** Called when more rules are expected than before: also writes those. */
  more(): void;
  /** See `DuneSession`. */
  outlook(): DuneOutlook | undefined;
  has(key: string): boolean;
  /** Returns the counts so far. */
  count(): { readonly given: number; readonly refused: number };
  /** Finishes the work in progress. */
  end(): Promise<void>;
}

/** With at least this many rules, most directories of dune's store will contain one. */
const manyRules = 200;
/**
 * The number of rules that are processed at once: while one is written, the next are read and compared with their
 * digests.
 */
const rulesAtOnce = 32;

/** Returns how long dune should wait for its expected rules; rules in `settled` are written or rejected. */
function outlookOfDune(seen: Outlook, settled: ReadonlySet<string>): DuneOutlook {
  const ofDune = seen.expected.filter(({ key }) => key.namespace === "dune");
  const rules = ofDune.map(({ key, ...rule }) => ({ ...rule, isThere: settled.has(key.key) }));
  const others = seen.expected.filter(({ key, isHere }) => key.namespace !== "dune" && !isHere);
  // dune's results and the others share the line, in an unknown order.
  const othersBytes = others.reduce((sum, { bytes }) => sum + bytes, 0);
  const othersMs = (othersBytes / Math.max(1, seen.line.bytesPerSecond)) * 1_000;
  const soonMs = msUntilSafe(rules, seen.line);
  return {
    waitMs: soonMs === 0 ? 0 : soonMs + othersMs,
    missing: rules.filter(({ isThere }) => !isThere).length,
    worthMs: msWorthWaiting(rules),
    isOnlyDune: others.length === 0,
  };
}

export function writeRules(
  { granary, place, forget, logger }: WriteRulesParts,
  stores: DuneStores,
  { build, arrivals, known, outlook }: Pick<DuneBuild, "build" | "arrivals" | "known" | "outlook">,
): WrittenRules {
  const over = new AbortController();
  const given = new Set<string>();
  /** Rules that are in dune's store or were rejected: nothing waits for them. */
  const settled = new Set<string>();
  let refused = 0;
  let isPrepared = false;
  /** Undefined until a result has arrived. */
  let writer: FileWriter | undefined;
  let prepared = prepare();
  void known?.then(makeDirectories);

  async function prepare(): Promise<void> {
    const running = new Set<Promise<void>>();
    try {
      for await (const result of arrivals(over.signal)) {
        const one: Promise<void> = give(result).finally(() => running.delete(one));
        running.add(one);
        if (running.size >= rulesAtOnce) await Promise.race(running);
      }
    } catch (reason) {
      logger.info(
        { build: build.id, reason: messageOf(reason) },
        "a transfer of dune's results ended early",
      );
    }
    await Promise.all(running);
    isPrepared = true;
  }

  /**
   * Runs while the farm looks up the first results and the granary is idle: making a directory costs four times as much
   * as making a file.
   */
  async function makeDirectories(): Promise<void> {
    if (over.signal.aborted) return;
    const coming = outlook?.()?.expected.filter(({ isHere }) => !isHere) ?? [];
    for (const scheme of DuneScheme) {
      const named = coming.flatMap(({ key }) => readDuneKey(key) ?? []);
      const keys = named.filter((one) => one.scheme === scheme).map(({ key }) => key);
      if (keys.length < manyRules) continue;
      writer ??= startWriter(stores[scheme].temp);
      // A problem is reported when the first file is written there.
      await writer.makeDirectories(stores[scheme].directoriesFor(keys)).catch(() => {});
    }
  }

  async function give(result: GranaryResult): Promise<void> {
    if (settled.has(result.key)) return;
    try {
      writer ??= startWriter(stores.v4.temp);
      const how = await writeRule({ granary, place, writer, stores }, result);
      if (how !== "given") return;
      given.add(result.key);
    } catch (reason) {
      refused += 1;
      logger.warn(
        { build: build.id, key: result.key, reason: messageOf(reason) },
        "refused for dune",
      );
      // A full disk does not mean that the result is wrong.
      if (reason instanceof Fault && reason.code === "data_loss") await forget(result);
    } finally {
      settled.add(result.key);
    }
  }

  function lookOut(): DuneOutlook | undefined {
    if (isPrepared) return { waitMs: 0, missing: 0, worthMs: 0, isOnlyDune: true };
    const seen = outlook?.();
    return seen && outlookOfDune(seen, settled);
  }

  return {
    get prepared() {
      return prepared;
    },
    more() {
      isPrepared = false;
      // All arrivals come again; those that are settled need no work.
      prepared = prepared.then(prepare);
    },
    outlook: lookOut,
    has: (key) => given.has(key),
    count: () => ({ given: given.size, refused }),
    async end() {
      over.abort();
      await prepared;
      await writer?.stop();
    },
  };
}
