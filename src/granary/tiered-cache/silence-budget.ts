import { Fault } from "#core/fault.ts";

/** The total time, in ms, that one build waits for a farm that does not answer. */
export const mostSilenceMs = 1_000;

/** The least limit of one silence, in ms, where the round trip is known: a busy farm or a busy machine may be slow to answer. */
const leastSilenceMs = 500;

/** How long requests may wait for a silent farm, in ms. */
interface SilenceLimits {
  /** All silences of one build together. */
  readonly allMs: number;
  /** Returns the limit of one silence. */
  readonly onceMs: (roundTripMs: number | undefined) => number;
}

/** Returns the limit of one silence, in ms: four round trips, and 250 ms for the farm's work. */
export function silenceLimitMs(roundTripMs: number | undefined): number {
  if (roundTripMs === undefined) return mostSilenceMs;
  return Math.min(mostSilenceMs, Math.max(leastSilenceMs, 4 * roundTripMs + 250));
}

const ofBuild: SilenceLimits = { allMs: mostSilenceMs, onceMs: silenceLimitMs };

/**
 * The limits of builds that execute at the farm: Bazel's own `--remote_timeout` for each answer, without a total,
 * because they cannot continue without the farm.
 */
export const silenceLimitsAtFarm: SilenceLimits = {
  allMs: Number.POSITIVE_INFINITY,
  onceMs: () => 60_000,
};

/**
 * The time that one build may still wait for a silent farm: one second in total, for all its requests together.
 *
 * Only silence uses it up, that is, time in which a request waited and nothing arrived. A build waits without limit for a
 * farm that is slow but answers.
 */
export class SilenceBudget {
  readonly #roundTripMs: () => number | undefined;
  readonly #waiting = new Set<(reason: Fault) => void>();
  readonly #onceMs: SilenceLimits["onceMs"];
  #leftMs: number;
  #silentSince = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(roundTripMs: () => number | undefined, { allMs, onceMs }: SilenceLimits = ofBuild) {
    this.#roundTripMs = roundTripMs;
    this.#onceMs = onceMs;
    this.#leftMs = allMs;
  }

  get isOver(): boolean {
    return this.#leftMs <= 0;
  }

  /** Returns the promise's value. Throws `Fault("unavailable")` if the farm is silent for too long before it settles. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => {});
    if (this.isOver) throw silentTooLong();
    if (this.#waiting.size === 0) this.#silentSince = performance.now();
    let abandon: (reason: Fault) => void = () => {};
    const abandoned = new Promise<never>((_, reject) => {
      abandon = reject;
    });
    this.#waiting.add(abandon);
    this.#arm();
    try {
      const answer = await Promise.race([promise, abandoned]);
      this.endSilence();
      return answer;
    } catch (reason) {
      // `#abandon` has counted the silence already and emptied the set.
      if (this.#waiting.has(abandon)) this.#count();
      throw reason;
    } finally {
      this.#waiting.delete(abandon);
      if (this.#waiting.size === 0) this.#disarm();
    }
  }

  /** Notes that bytes arrived from the farm, which ends a silence. */
  endSilence(): void {
    this.#silentSince = performance.now();
    if (this.#waiting.size > 0) this.#arm();
  }

  #count(): void {
    const now = performance.now();
    this.#leftMs -= now - this.#silentSince;
    this.#silentSince = now;
    if (this.isOver) this.#abandon();
    else this.#arm();
  }

  #arm(): void {
    this.#disarm();
    const mostMs = Math.min(this.#leftMs, this.#onceMs(this.#roundTripMs()));
    const leftMs = this.#silentSince + mostMs - performance.now();
    // setImmediate: if this process was suspended, an answer may be waiting in the socket; it is read first.
    const wholeMs = Math.max(0, Math.ceil(leftMs));
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), wholeMs);
  }

  #expire(): void {
    const mostMs = Math.min(this.#leftMs, this.#onceMs(this.#roundTripMs()));
    if (this.#waiting.size === 0) return;
    // A timer may fire slightly early, and data may have arrived since.
    if (performance.now() - this.#silentSince < mostMs) this.#arm();
    else this.#abandon();
  }

  #abandon(): void {
    const now = performance.now();
    this.#leftMs -= now - this.#silentSince;
    this.#silentSince = now;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#disarm();
    for (const abandon of waiting) abandon(silentTooLong());
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function silentTooLong(): Fault {
  return new Fault("unavailable", "the farm is silent");
}
