import type { LedgerEntry } from "../../../../test/support/fake-github/fake-github.ts";

/** Returns how often something was written that already existed, by the ledger of all writes. */
export function writtenTwice(ledger: readonly LedgerEntry[]): {
  readonly comments: number;
  readonly checks: number;
} {
  return {
    comments: doublesOf(
      ledger
        .filter(({ what, text }) => what === "comment created" && text.startsWith("<!-- grange "))
        .map(({ repository, pull, text }) => `${repository} ${pull} ${text.split("\n", 1)[0]}`),
    ),
    checks: doublesOf(
      ledger
        .filter(({ what }) => what === "check created")
        // Commit and name; the rest is the state.
        .map(({ repository, text }) => `${repository} ${text.split(" ").slice(0, 2).join(" ")}`),
    ),
  };
}

function doublesOf(keys: readonly string[]): number {
  return keys.length - new Set(keys).size;
}
