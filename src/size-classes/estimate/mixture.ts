import type { LogNormal } from "./log-normal.ts";

/** The weight of the usual value, in runs: a few actions look more similar than they are. */
const usualWeight = 2;

/** The spread of a quantity over many actions, in no order. */
export class Mixture {
  weight = 0;
  #sum = 0;
  #squares = 0;
  readonly #usualVariance: number;

  constructor(defaultSigma: number) {
    this.#usualVariance = defaultSigma * defaultSigma;
  }

  add(logarithm: number, weight: number): void {
    this.weight += weight;
    this.#sum += weight * logarithm;
    this.#squares += weight * logarithm * logarithm;
  }

  spread(): LogNormal {
    if (this.weight === 0) return { mu: 0, sigma: Math.sqrt(this.#usualVariance) };
    const mu = this.#sum / this.weight;
    const squares = Math.max(0, this.#squares - this.weight * mu * mu);
    const variance = (squares + usualWeight * this.#usualVariance) / (this.weight + usualWeight);
    return { mu, sigma: Math.sqrt(variance) };
  }
}
