import type { BenchmarkSearchView } from "#api/benchmark-history.ts";
import type { Tx } from "#db/db.ts";
import { caseOf } from "./advance-searches.ts";
import { figuresAlong, type LineRow, lineBetween, type SearchRow } from "./search.store.ts";

/** Returns a search as pages and commands show it, with all figures of its part of the line. */
export async function viewSearch(tx: Tx, search: SearchRow): Promise<BenchmarkSearchView> {
  const line = await lineBetween(tx, search.from_id, search.to_id);
  const ids = line.map(({ id }) => id);
  const { case_id: caseId, suite, metric } = search;
  const figures = await figuresAlong(tx, ids, { caseId, suite, metric });
  return viewOf(search, line, new Map(figures.map((figure) => [figure.artifact_id, figure.value])));
}

function viewOf(
  search: SearchRow,
  line: readonly LineRow[],
  figures: ReadonlyMap<number, number>,
): BenchmarkSearchView {
  const tagOf = new Map(line.map(({ id, tag }) => [id, tag]));
  const requested = new Set(search.asked);
  const steps = search.steps.map(({ beforeId, artifactId, change, exact }) => ({
    before: tagOf.get(beforeId) ?? "?",
    artifact: tagOf.get(artifactId) ?? "?",
    change: change ?? 0,
    exact,
  }));
  return {
    id: search.id,
    suite: search.suite,
    kind: search.kind,
    case: caseOf(search),
    metric: search.metric,
    from: search.from_tag,
    to: search.to_tag,
    least: search.least,
    state: search.state,
    sentence: search.error ?? sentenceOf(search, steps, line.length),
    artifacts: line.length,
    measured: search.asked.length,
    steps,
    points: line
      .filter(({ id }) => figures.has(id) || requested.has(id))
      .map(({ id, tag }) => ({ artifact: tag, value: figures.get(id) ?? null })),
    requestedBy: search.requested_by,
    createdAt: search.created_at.toISOString(),
    endedAt: search.ended_at?.toISOString() ?? null,
  };
}

function sentenceOf(
  search: SearchRow,
  steps: BenchmarkSearchView["steps"],
  artifacts: number,
): string {
  const measured =
    search.asked.length === 0
      ? "all that it needed was measured before"
      : `${search.asked.length} of ${artifacts} artifacts were measured for it`;
  // A step from 0 has no relative size, and is the largest of all.
  const sizeOf = (change: number) => (change === 0 ? Number.POSITIVE_INFINITY : Math.abs(change));
  const largest = steps.toSorted((a, b) => sizeOf(b.change) - sizeOf(a.change) || 0)[0];
  switch (search.state) {
    case "running":
      return `It goes on; ${search.asked.length} of ${artifacts} artifacts were asked for so far.`;
    case "cancelled":
      return "It was cancelled.";
    case "failed":
      return "It could not continue.";
    case "nothing":
      return `Nothing changed by ${percent(search.least)} or more; ${measured}.`;
    case "found":
      if (largest === undefined) return `Something was found; ${measured}.`;
      return (
        `${largest.exact ? "" : "Somewhere up to "}${largest.artifact} changed it ${largest.change === 0 ? "from nothing" : `by ${percent(largest.change, true)}`}` +
        `${steps.length > 1 ? `, the largest of ${steps.length} steps` : ""}; ${measured}.`
      );
  }
}

function percent(share: number, signed = false): string {
  const text = `${(share * 100).toFixed(2)} %`;
  return signed && share > 0 ? `+${text}` : text;
}
