/**
 * A selection of jobs: the syntax tree of a text such as `platform:win32 & pgo & talos`.
 *
 * `and` and `or` have at least two parts, and no part of the same kind: texts with equivalent brackets have the same
 * tree, so that trees can be compared and printed.
 */
export type Selection =
  | { readonly op: "and"; readonly parts: readonly Selection[] }
  | { readonly op: "or"; readonly parts: readonly Selection[] }
  | { readonly op: "not"; readonly part: Selection }
  | { readonly op: "word"; readonly pattern: WordPattern }
  | { readonly op: "key"; readonly key: string; readonly pattern: WordPattern };

/** The texts between the stars of a word: `a*b` is ["a", "b"], `*` is ["", ""], `ab` is ["ab"]. */
export type WordPattern = readonly [string, ...string[]];

/** All of the parts must match. */
export function allOf(first: Selection, ...others: readonly Selection[]): Selection {
  return joined("and", [first, ...others]);
}

/** One of the parts must match. */
export function anyOf(first: Selection, ...others: readonly Selection[]): Selection {
  return joined("or", [first, ...others]);
}

export function not(part: Selection): Selection {
  return { op: "not", part };
}

/** Returns whether a selection tests this key anywhere; `state` has no meaning before a graph exists. */
export function asksAbout(selection: Selection, key: string): boolean {
  switch (selection.op) {
    case "and":
    case "or":
      return selection.parts.some((part) => asksAbout(part, key));
    case "not":
      return asksAbout(selection.part, key);
    case "word":
      return false;
    case "key":
      return selection.key === key;
  }
}

function joined(op: "and" | "or", parts: readonly Selection[]): Selection {
  const flat = parts.flatMap((part) => (part.op === op ? part.parts : [part]));
  const [only] = flat;
  return flat.length === 1 && only !== undefined ? only : { op, parts: flat };
}
