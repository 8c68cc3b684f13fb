import type { GranaryBuildSummary } from "#api/granary.ts";
import { countText, sources, sourceWords } from "./words.ts";

/** The requests of a build, by their source. */
export function SourceBar({ counts }: { readonly counts: GranaryBuildSummary["counts"] }) {
  const parts = sources.filter((source) => counts[source] > 0);
  const label = parts.map((source) => `${counts[source]} ${sourceWords[source]}`).join(", ");
  return (
    <div
      className="source-bar"
      role="img"
      aria-label={label || "The build requested nothing"}
      title={label}
    >
      {parts.map((source) => (
        <span key={source} className={`of-${source}`} style={{ flexGrow: counts[source] }} />
      ))}
    </div>
  );
}

export function requestedIn(counts: GranaryBuildSummary["counts"]): number {
  return sources.reduce((sum, source) => sum + counts[source], 0);
}

export function hitsIn({ local, prefetched, fetched }: GranaryBuildSummary["counts"]): number {
  return local + prefetched + fetched;
}

export function SourceLegend() {
  return (
    <ul className="source-legend" aria-label="Colours">
      {sources.map((source) => (
        <li key={source}>
          <span className={`swatch of-${source}`} aria-hidden="true" /> {sourceWords[source]}
        </li>
      ))}
    </ul>
  );
}

export const resultsText = (count: number) => countText(count, "result");
