import type { Hint } from "./webhooks/hint.ts";

/** The parts of a repository to read from the forge. */
export interface ToRead {
  readonly refs: boolean;
  /** `all`: open and changed pull requests; otherwise only those with these numbers. */
  readonly pulls: "all" | readonly number[];
  readonly comments: boolean;
  /** Whether to read also data that changes rarely: the default branch. */
  readonly repository: boolean;
}

/** More pull requests than this are listed instead of requested one by one. */
const mostSingly = 20;

/** Returns the parts that the hints, together, make necessary. Their order does not matter. */
export function whatToRead(hints: readonly Hint[], isFull: boolean): ToRead {
  if (isFull || hints.some(({ about }) => about === "all")) {
    return { refs: true, pulls: "all", comments: true, repository: true };
  }
  const pulls = [
    ...new Set(hints.flatMap((hint) => (hint.about === "pull" ? [hint.number] : []))),
  ].toSorted((a, b) => a - b);
  return {
    refs: hints.some(({ about }) => about === "refs"),
    pulls: pulls.length > mostSingly ? "all" : pulls,
    comments: hints.some(({ about }) => about === "comments"),
    repository: false,
  };
}

/**
 * Returns the earliest time at which a pull request is known to have had its head, by the forge's clock.
 *
 * The pull request had last been changed at `updatedAt` when it was read, so its head is not newer than that. Webhooks
 * with that head, or earlier data, may give an earlier time.
 */
export function headSince(
  pull: { readonly number: number; readonly head: string; readonly updatedAt: Date },
  known: { readonly head: string; readonly headSince: Date } | undefined,
  hints: readonly Hint[],
): Date {
  const hinted = hints.flatMap((hint) =>
    hint.about === "pull" && hint.number === pull.number && hint.headAt?.head === pull.head
      ? [new Date(hint.headAt.at)]
      : [],
  );
  const before = known?.head === pull.head ? [known.headSince] : [];
  return [...hinted, ...before].reduce(
    (earliest, each) => (each < earliest ? each : earliest),
    pull.updatedAt,
  );
}
