import { Fault } from "#core/fault.ts";

/** All that a build waits for a farm that says nothing. */
export const mostSilenceMs = 1_000;

/** Of one silence, where the line is known: a farm at work, and a machine that builds, may both be slow to answer. */
const leastPatienceMs = 500;

/** What waits may come to. */
export interface Patience {
  /** All of them together. */
  readonly allMs: number;
  /** One silence. */
  readonly onceMs: (roundTripMs: number | undefined) => number;
}

/** How long one silence is borne: some round trips, and some work. */
export function patienceMs(roundTripMs: number | undefined): number {
  if (roundTripMs === undefined) return mostSilenceMs;
  return Math.min(mostSilenceMs, Math.max(leastPatienceMs, 4 * roundTripMs + 250));
}

const ofBuild: Patience = { allMs: mostSilenceMs, onceMs: patienceMs };

/** As long as Bazel waits for an answer by itself (`--remote_timeout`), however often: who builds at the farm has no other way. */
export const patienceAtFarm: Patience = {
  allMs: Number.POSITIVE_INFINITY,
  onceMs: () => 60_000,
};

/**
 * How long a build waits for a farm that does not answer: a second in all, however much it asks for, and however much
 * of that at the same time.
 *
 * What counts is silence: the time in which somebody waited and nothing came. A farm that is slow but answers is
 * waited for.
 */
export class FarmPatience {
  readonly #roundTripMs: () => number | undefined;
  readonly #waiting = new Set<(reason: Fault) => void>();
  readonly #onceMs: Patience["onceMs"];
  #leftMs: number;
  #silentSince = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(roundTripMs: () => number | undefined, { allMs, onceMs }: Patience = ofBuild) {
    this.#roundTripMs = roundTripMs;
    this.#onceMs = onceMs;
    this.#leftMs = allMs;
  }

  get isOver(): boolean {
    return this.#leftMs <= 0;
  }

  /** What the promise comes to. Throws `unavailable` when the farm is silent for too long meanwhile. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => {});
    if (this.isOver) throw gaveUp();
    if (this.#waiting.size === 0) this.#silentSince = performance.now();
    let giveUp: (reason: Fault) => void = () => {};
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    this.#waiting.add(giveUp);
    this.#arm();
    try {
      const answer = await Promise.race([promise, givenUp]);
      this.heard();
      return answer;
    } catch (reason) {
      // Whoever gave up has been counted.
      if (this.#waiting.has(giveUp)) this.#count();
      throw reason;
    } finally {
      this.#waiting.delete(giveUp);
      if (this.#waiting.size === 0) this.#disarm();
    }
  }

  /** Something came from the farm. */
  heard(): void {
    this.#silentSince = performance.now();
    if (this.#waiting.size > 0) this.#arm();
  }

  #count(): void {
    const now = performance.now();
    this.#leftMs -= now - this.#silentSince;
    this.#silentSince = now;
    if (this.isOver) this.#giveUp();
    else this.#arm();
  }

  #arm(): void {
    this.#disarm();
    const mostMs = Math.min(this.#leftMs, this.#onceMs(this.#roundTripMs()));
    const leftMs = this.#silentSince + mostMs - performance.now();
    // An answer that came while this process had no turn is read first.
    const wholeMs = Math.max(0, Math.ceil(leftMs));
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), wholeMs);
  }

  #expire(): void {
    const mostMs = Math.min(this.#leftMs, this.#onceMs(this.#roundTripMs()));
    if (this.#waiting.size === 0) return;
    // A timer may end a moment early, and something may have been heard since it did.
    if (performance.now() - this.#silentSince < mostMs) this.#arm();
    else this.#giveUp();
  }

  #giveUp(): void {
    const now = performance.now();
    this.#leftMs -= now - this.#silentSince;
    this.#silentSince = now;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#disarm();
    for (const giveUp of waiting) giveUp(gaveUp());
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function gaveUp(): Fault {
  return new Fault("unavailable", "the farm is silent");
}
