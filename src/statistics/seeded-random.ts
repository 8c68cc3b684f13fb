/** A source of random numbers in [0, 1) that returns the same numbers for the same seed, on every machine. */
export type Random = () => number;

/**
 * Small Fast Counter (Chris Doty-Humphrey, public domain): 128 bits of state, so that bootstraps of thousands of
 * comparisons do not use the same part of one sequence, as they would with 32 bits.
 */
export function seededRandom(seed: number | string): Random {
  let [a, b, c] = wordsOf(String(seed));
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // Sequences of similar seeds must differ before the first number is used.
  for (let i = 0; i < 15; i++) next();
  return next;
}

/** FNV-1a over the text, three times with different start values. */
function wordsOf(text: string): [number, number, number] {
  const words: [number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b];
  for (let i = 0; i < text.length; i++) {
    for (let w = 0; w < 3; w++) {
      words[w] = Math.imul((words[w] ?? 0) ^ text.charCodeAt(i), 0x01000193 + 2 * w * 0x9e37);
    }
  }
  return words;
}

/** Returns a normally distributed number, by the method of Box and Muller. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Returns an integer from 0 to below `count`. */
export function wholeBelow(random: Random, count: number): number {
  return Math.floor(random() * count);
}
