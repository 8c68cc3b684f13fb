import type { LogNormal } from "./log-normal.ts";

/** Each run counts this much of the next one's weight, so at most 1 / (1 - 0.8) = 5 runs count. */
const memory = 0.8;
/** How far from what was expected, in deviations, something is odd. */
const oddAt = 3;
/** So many odd ones in a row, on the same side, are no accident but a change. */
const changeAfter = 2;
/** How many runs what is usual weighs against. */
const usualWeight = 2;

/**
 * Follows a quantity that varies by factors and may change for good.
 *
 * Recent ones count more. A single odd one moves it no further than three deviations would; the second in a
 * row on the same side is believed, and all before it forgotten.
 */
export class Drift {
  /** In runs; 0 while nothing is known. */
  weight = 0;
  mu = 0;
  /** How often it was believed to have changed. */
  changes = 0;
  #squares = 0;
  #odd = 0;
  #oddSum = 0;
  readonly #usualVariance: number;

  constructor(usualSigma: number) {
    this.#usualVariance = usualSigma * usualSigma;
  }

  /** Of one run around `mu`. */
  get variance(): number {
    return (this.#squares + usualWeight * this.#usualVariance) / (this.weight + usualWeight);
  }

  add(logarithm: number, _weight = 1): void {
    if (this.weight === 0) {
      this.weight = 1;
      this.mu = logarithm;
      return;
    }
    const deviation = Math.sqrt(this.variance * (1 + 1 / this.weight));
    let off = logarithm - this.mu;
    const side = Math.sign(off);
    if (Math.abs(off) > oddAt * deviation) {
      if (Math.sign(this.#odd) !== side) {
        this.#odd = 0;
        this.#oddSum = 0;
      }
      this.#odd += side;
      this.#oddSum += logarithm;
      if (Math.abs(this.#odd) >= changeAfter) {
        this.#restart();
        return;
      }
      off = side * oddAt * deviation;
    } else {
      this.#odd = 0;
      this.#oddSum = 0;
    }
    const before = this.weight;
    this.weight = memory * before + 1;
    this.mu += off / this.weight;
    this.#squares = memory * this.#squares + (off * off * (this.weight - 1)) / this.weight;
  }

  spread(): LogNormal {
    return { mu: this.mu, sigma: Math.sqrt(this.variance) };
  }

  #restart(): void {
    const runs = Math.abs(this.#odd);
    this.mu = this.#oddSum / runs;
    this.weight = runs;
    this.#squares = 0;
    this.#odd = 0;
    this.#oddSum = 0;
    this.changes++;
  }
}
