/** What Enter opens in the palette. */
export type Choice =
  /** The user has typed, and nothing that can be opened was listed since then. */
  | { readonly kind: "first" }
  | { readonly kind: "entry"; readonly id: string }
  /** The chosen entry is no longer listed. Enter opens nothing until the user chooses again. */
  | { readonly kind: "none" };

interface Listed {
  readonly id: string;
  /** Whether it was found for an earlier text, and may disappear when the answer for the present text arrives. */
  readonly isEarlier: boolean;
}

/**
 * Returns the choice for a list that may have changed.
 *
 * A choice stays with its entry while results arrive: the user may already be pressing Enter, and must not open anything
 * else than what was marked. For the same reason, an entry that may still disappear is never chosen automatically.
 */
export function keepChoice(choice: Choice, entries: readonly Listed[]): Choice {
  switch (choice.kind) {
    case "none":
      return choice;
    case "entry":
      return entries.some(({ id }) => id === choice.id) ? choice : { kind: "none" };
    case "first": {
      const first = entries.find(({ isEarlier }) => !isEarlier);
      return first === undefined ? choice : { kind: "entry", id: first.id };
    }
  }
}

/** Returns the choice after the key for the next (`1`) or the previous (`-1`) entry. After the last one comes the first. */
export function moveChoice(choice: Choice, entries: readonly Listed[], by: 1 | -1): Choice {
  const at = choice.kind === "entry" ? entries.findIndex(({ id }) => id === choice.id) : -1;
  const next = at === -1 && by === -1 ? entries.length - 1 : (at + by) % entries.length;
  const entry = entries.at(next);
  return entry === undefined ? choice : { kind: "entry", id: entry.id };
}
