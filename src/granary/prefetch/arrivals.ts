import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { GranaryResult } from "../granary-result.ts";

export interface Arrival {
  readonly key: ResultKey;
  /** The result itself, if it arrived a moment ago. */
  readonly result: GranaryResult | undefined;
}

/** The expected and announced results that are present, each once, with their time of arrival. */
interface Arrivals {
  isHere(key: ResultKey): void;
  /** Notes that the result arrived over the network. */
  came(key: ResultKey): void;
  /** Notes the arrived result itself. */
  kept(result: GranaryResult): void;
  /** How long ago a result arrived over the network, in ms. */
  agoMs(key: ResultKey): number | undefined;
  /** Wakes readers, which check whether more results may arrive. */
  look(): void;
  /** Yields each result as soon as it is present, until no more can arrive. */
  read(signal: AbortSignal, mayCome: () => boolean): AsyncGenerator<Arrival, void, undefined>;
}

/** The number of results that are kept in memory for a reader. */
const mostFresh = 1_000;

export function noteArrivals(): Arrivals {
  const at = new Map<string, number>();
  const here: ResultKey[] = [];
  const reported = new Set<string>();
  /** Arrived and not yet read. */
  const fresh = new Map<string, GranaryResult>();
  let waiting: (() => void)[] = [];

  const look = () => {
    const all = waiting;
    waiting = [];
    for (const tell of all) tell();
  };

  const isHere = (key: ResultKey) => {
    const name = keyText(key);
    if (reported.has(name)) return;
    reported.add(name);
    here.push(key);
    look();
  };

  const came = (key: ResultKey) => {
    const name = keyText(key);
    if (!at.has(name)) at.set(name, performance.now());
  };

  return {
    isHere,
    came,
    kept(result) {
      came(result);
      if (fresh.size < mostFresh) fresh.set(keyText(result), result);
      isHere(result);
    },
    agoMs(key) {
      const since = at.get(keyText(key));
      return since === undefined ? undefined : performance.now() - since;
    },
    look,
    async *read(signal, mayCome) {
      signal.addEventListener("abort", look);
      try {
        for (let next = 0; !signal.aborted; ) {
          const key = here[next];
          if (key !== undefined) {
            next += 1;
            const result = fresh.get(keyText(key));
            fresh.delete(keyText(key));
            yield { key, result };
          } else if (!mayCome()) return;
          else await new Promise<void>((resolve) => waiting.push(resolve));
        }
      } finally {
        signal.removeEventListener("abort", look);
      }
    },
  };
}
