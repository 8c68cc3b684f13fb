/**
 * Combines two independent p-values into one, by Fisher's method; for two, the chi-square tail has this closed form.
 */
export function fisherOfTwo(p: number, q: number): number {
  const product = p * q;
  return product <= 0 ? 0 : Math.min(1, product * (1 - Math.log(product)));
}
