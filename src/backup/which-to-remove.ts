/** A backup in a directory, with the facts that decide its removal. */
export interface FoundBackup {
  /** The name; names sort by age. */
  readonly name: string;
  readonly state: "complete" | "incomplete" | "damaged";
}

/**
 * Chooses which backups of a directory are removed, so that the newest `keep` complete ones remain.
 *
 * Incomplete ones are removed: the caller holds the directory's lock, so no process still writes them. A backup with a
 * damaged manifest stays while its age is among the newest, because its files may help in a manual repair, but it does
 * not count.
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
