/** Texts to measure with: the same number of words is always the same text. */
export const kinds = { prose, log };

/** Words made of syllables; few of them are frequent and most are rare, as in any language. */
function prose(words) {
  const random = randomNumbers(1);
  const syllables = ["an", "bel", "cor", "dis", "en", "for", "gra", "in", "lo", "mer", "ti", "un"];
  const vocabulary = Array.from({ length: 2_000 }, () => {
    const count = 2 + Math.floor(random() * 3);
    return Array.from({ length: count }, () => pick(syllables, random())).join("");
  });
  return inLines(words, () => pick(vocabulary, random() ** 3));
}

/** What programs write: words that begin alike and end in a number. */
function log(words) {
  const random = randomNumbers(2);
  return inLines(
    words,
    () => `${pick(["request", "session", "worker"], random())}${Math.floor(random() * 40)}`,
  );
}

function inLines(words, next) {
  const lines = [];
  for (let made = 0; made < words; made += 10) {
    lines.push(Array.from({ length: Math.min(10, words - made) }, next).join(" "));
  }
  return lines.join("\n");
}

function pick(list, share) {
  return list[Math.floor(share * list.length)];
}

/** Numbers from 0 to 1 by a linear congruential generator; the constants are those of Numerical Recipes. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
