import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { GranaryResult } from "../granary-result.ts";

export interface Arrival {
  readonly key: ResultKey;
  /** Where it came a moment ago. */
  readonly result: GranaryResult | undefined;
}

/** What is here of what was expected or hinted at, each once, and since when. */
export interface Arrivals {
  isHere(key: ResultKey): void;
  /** It came over the line just now. */
  came(key: ResultKey): void;
  /** And this is it. */
  kept(result: GranaryResult): void;
  /** Of what came over the line. */
  agoMs(key: ResultKey): number | undefined;
  /** Has those who read look whether more may come. */
  look(): void;
  /** Each as soon as it is here, till all that may come has. */
  read(signal: AbortSignal, mayCome: () => boolean): AsyncGenerator<Arrival, void, undefined>;
}

/** Held for whoever reads; nobody may. */
const mostFresh = 1_000;

export function noteArrivals(): Arrivals {
  const at = new Map<string, number>();
  const here: ResultKey[] = [];
  const told = new Set<string>();
  /** Came, and nobody has been told yet. */
  const fresh = new Map<string, GranaryResult>();
  let waiting: (() => void)[] = [];

  const look = () => {
    const all = waiting;
    waiting = [];
    for (const tell of all) tell();
  };

  const isHere = (key: ResultKey) => {
    const name = keyText(key);
    if (told.has(name)) return;
    told.add(name);
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
