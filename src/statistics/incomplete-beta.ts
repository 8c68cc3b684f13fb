/**
 * Returns the regularised incomplete beta function I_x(a, b), by its continued fraction.
 *
 * `rest` is 1 - x, passed by the caller: for x near 1 the difference would lose its digits.
 */
export function incompleteBeta(x: number, rest: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  // For x below this bound the fraction converges in a few dozen steps.
  return x < (a + 1) / (a + b + 2) ? lower(x, rest, a, b) : 1 - lower(rest, x, b, a);
}

function lower(x: number, rest: number, a: number, b: number): number {
  const logX = x > 0.5 ? Math.log1p(-rest) : Math.log(x);
  const logRest = rest > 0.5 ? Math.log1p(-x) : Math.log(rest);
  const front = Math.exp(a * logX + b * logRest - logBeta(a, b));
  return (front * fraction(x, a, b)) / a;
}

/** Lentz's method, as in DLMF 8.17.22. */
function fraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = inverse(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = inverse(1 + even * d);
    c = 1 + even / c || tiny;
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = inverse(1 + odd * d);
    c = 1 + odd / c || tiny;
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return value;

  function inverse(divisor: number): number {
    return 1 / (Math.abs(divisor) < tiny ? tiny : divisor);
  }
}

function logBeta(a: number, b: number): number {
  // For one large and one small argument, the two large logarithms would cancel out, so Stirling's difference is used
  // instead.
  const [small, large] = a < b ? [a, b] : [b, a];
  if (large < 100) return logGamma(small) + logGamma(large) - logGamma(small + large);
  const sum = small + large;
  return (
    logGamma(small) -
    ((large - 0.5) * Math.log1p(small / large) + small * Math.log(sum) - small) +
    stirling(large) -
    stirling(sum)
  );
}

/** log Γ(x) - ((x - 1/2)·log x - x + log(2π)/2), for large x. */
function stirling(x: number): number {
  const square = x * x;
  return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x;
}

/** Raises x by the recurrence until Stirling's series is exact to all digits. */
function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  while (shifted < 20) {
    product *= shifted;
    shifted++;
  }
  return (
    (shifted - 0.5) * Math.log(shifted) -
    shifted +
    Math.log(2 * Math.PI) / 2 +
    stirling(shifted) -
    Math.log(product)
  );
}
