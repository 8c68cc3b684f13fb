import { CommitStanding, type Search } from "#api/search.ts";
import { shapeOfStanding, standingWords } from "./standing-words.ts";

/** The states of a search's commits, as one bar. */
export function StandingsBar({ search }: { readonly search: Search }) {
  const present = CommitStanding.options.filter((each) => (search.counts[each] ?? 0) > 0);
  const words = present.map((each) => `${search.counts[each]} ${standingWords[each]}`).join(", ");
  return (
    <span
      className="counts-bar"
      role="img"
      aria-label={`${search.commits} commits: ${words}`}
      title={words}
    >
      {present.map((each) => (
        <span
          key={each}
          className={`is-${shapeOfStanding[each]}`}
          style={{ flexGrow: search.counts[each] ?? 0, opacity: each === "unknown" ? 0.3 : 1 }}
        />
      ))}
    </span>
  );
}
