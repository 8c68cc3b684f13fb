/** One p-value of two independent ones, by Fisher's method; of two the chi-square tail has this closed form. */
export function fisherOfTwo(p: number, q: number): number {
  const product = p * q;
  return product <= 0 ? 0 : Math.min(1, product * (1 - Math.log(product)));
}
