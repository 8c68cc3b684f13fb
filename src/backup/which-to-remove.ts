/** A backup in a directory, as whoever removes old ones sees it. */
export interface FoundBackup {
  /** Names sort by age. */
  readonly name: string;
  readonly state: "complete" | "incomplete" | "damaged";
}

/**
 * Chooses which backups of a directory are removed, so that the newest `keep` complete ones are left.
 *
 * Incomplete ones go: the caller holds the directory's lock, so nobody writes them any more. One whose manifest is damaged
 * stays while it would be among the newest, as its files may help whoever repairs it by hand, but it counts for none.
 */
export function whichToRemove(found: readonly FoundBackup[], keep: number): string[] {
  const complete = found
    .filter(({ state }) => state === "complete")
    .map(({ name }) => name)
    .toSorted()
    .toReversed();
  const oldestKept = complete.slice(0, keep).at(-1);
  return found
    .filter(({ name, state }) => {
      switch (state) {
        case "incomplete":
          return true;
        case "complete":
        case "damaged":
          return oldestKept !== undefined && complete.length >= keep && name < oldestKept;
      }
    })
    .map(({ name }) => name)
    .toSorted();
}
