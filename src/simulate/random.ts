/** A source of random numbers that returns the same numbers for the same seed, on every machine. */
export type Random = () => number;

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state are enough for some thousand draws. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return scrambled(state) / 2 ** 32;
  };
}

/**
 * Returns a number in [0, 1) that depends only on these integers.
 *
 * For random events that must not change when other code draws once more: whether the third attempt of an execution is
 * flaky is the same under every strategy.
 */
export function drawFor(...integers: readonly number[]): number {
  let mixed = 0x9e3779b9;
  for (const each of integers) mixed = scrambled((mixed ^ (each >>> 0)) + 0x6d2b79f5);
  return scrambled(mixed) / 2 ** 32;
}

function scrambled(integer: number): number {
  let mixed = integer >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

/** Returns a normally distributed number, by the method of Box and Muller. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Returns `median` times a factor that is between e^-sigma and e^sigma two times in three. */
export function logNormal(random: Random, median: number, sigma: number): number {
  return median * Math.exp(sigma * normal(random));
}

/** Returns at least `least`; the smaller `shape`, the heavier the tail. Limited to `most`. */
export function pareto(random: Random, least: number, shape: number, most: number): number {
  return Math.min(most, least / (1 - random()) ** (1 / shape));
}

export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

export function between(random: Random, least: number, most: number): number {
  return least + (most - least) * random();
}

/** Returns one of the choices, with a probability in proportion to its weight. */
export function weighted<T>(random: Random, choices: readonly (readonly [weight: number, T])[]): T {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  const last = choices.at(-1);
  if (last === undefined) throw new RangeError("nothing to choose from");
  return last[1];
}
