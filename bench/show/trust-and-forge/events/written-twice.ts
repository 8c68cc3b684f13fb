import type { LedgerEntry } from "../../../../test/support/fake-github/fake-github.ts";

/** How often something was written that was there already, by the ledger of all that was written. */
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
        // Commit and name; what follows is how it stood.
        .map(({ repository, text }) => `${repository} ${text.split(" ").slice(0, 2).join(" ")}`),
    ),
  };
}

function doublesOf(keys: readonly string[]): number {
  return keys.length - new Set(keys).size;
}
