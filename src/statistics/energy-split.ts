/** The best split of a range of values, and its score. */
interface EnergySplit {
  /** The index of the first value of the second part. */
  readonly index: number;
  readonly q: number;
}

/**
 * Distances within a window, summed so that every split of every range costs one step.
 *
 * The statistic is Matteson's and James' E-divisive (arXiv 1306.4933) with exponent 1, in the form whose maximum Hunter
 * and Otava use: over all splits τ of the range, and all ends κ of the part after it.
 */
export class EnergyDistances {
  readonly #size: number;
  /** At [i][k]: the sum of |x_h - x_k| over h < i. */
  readonly #columns: Float64Array;

  constructor(values: readonly number[]) {
    const size = values.length;
    this.#size = size;
    this.#columns = new Float64Array((size + 1) * size);
    for (let i = 0; i < size; i++) {
      const x = values[i] ?? 0;
      for (let k = 0; k < size; k++) {
        this.#columns[(i + 1) * size + k] =
          (this.#columns[i * size + k] ?? 0) + Math.abs(x - (values[k] ?? 0));
      }
    }
  }

  /**
   * Returns the best split of the values from `start` to before `end`, at least two values. Among equally good splits,
   * returns the first.
   */
  best(start: number, end: number): EnergySplit {
    const columns = this.#columns;
    const size = this.#size;
    let best: EnergySplit = { index: start + 1, q: Number.NEGATIVE_INFINITY };
    let withinLeft = 0;
    for (let tau = start + 1; tau < end; tau++) {
      const n = tau - start;
      const last = tau - 1;
      withinLeft += (columns[last * size + last] ?? 0) - (columns[start * size + last] ?? 0);
      const left = n > 1 ? withinLeft / (n - 1) : 0;
      let between = 0;
      let withinRight = 0;
      for (let k = tau; k < end; k++) {
        const m = k - tau + 1;
        const atTau = columns[tau * size + k] ?? 0;
        between += atTau - (columns[start * size + k] ?? 0);
        withinRight += (columns[k * size + k] ?? 0) - atTau;
        const right = m > 1 ? withinRight / (m - 1) : 0;
        const q = (2 / (m + n)) * (between - m * left - n * right);
        if (q > best.q) best = { index: tau, q };
      }
    }
    return best;
  }
}
