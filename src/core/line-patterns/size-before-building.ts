/** An escape, a set, a counted repetition, or any other character. No set reaches further than in RE2. */
const piece =
  /\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/**
 * About how many steps a pattern comes to, and how deeply its groups are nested, told from its text.
 *
 * The library refuses only what is larger than a million steps, and knows the size when it has built
 * them: `(…){1000}` of 500 characters takes half a second and 130 MB.
 */
export function sizeBeforeBuilding(pattern: string): {
  readonly steps: number;
  readonly depth: number;
} {
  /** Of each open group: the steps before it. */
  const open: number[] = [];
  let steps = 2;
  /** Of what a repetition would repeat. */
  let last = 0;
  let depth = 0;
  for (const [token, least, most] of pattern.matchAll(piece)) {
    if (least !== undefined) {
      const once = Number(least);
      const times = Math.max(1, once, most === undefined ? once : Number(most) || once + 1);
      const more = last * (times - 1) + (times - once);
      steps += more;
      last += more;
    } else if (token === "(") {
      depth = Math.max(depth, open.push(steps));
      steps = 0;
      last = 0;
    } else if (token === ")") {
      last = steps + 2;
      steps = (open.pop() ?? 0) + last;
    } else if (token === "*" || token === "+" || token === "?") {
      steps += 1;
      last += 1;
    } else {
      steps += 1;
      last = token === "|" ? 0 : 1;
    }
  }
  return { steps, depth };
}
