import type { TestCase } from "#core/test-case.ts";
import type { Db, Tx } from "#db/db.ts";
import { chooseScanned, everyOf } from "./choose-scanned.ts";
import {
  type KnownLine,
  planBisection,
  planRefinement,
  planScan,
  type SearchStep,
} from "./plan-search.ts";
import {
  artifactsUnderWay,
  figuresAlong,
  type LineRow,
  lineBetween,
  type SearchRow,
  stepsByIds,
  takeRunningSearch,
  writeSearchProgress,
} from "./search.store.ts";

/**
 * Requests, in the search's transaction, that one case of an artifact is measured. Returns false when the artifact has
 * no component for the case.
 */
export type AskForFigure = (
  tx: Tx,
  wanted: {
    readonly suite: string;
    readonly artifact: string;
    readonly case: TestCase;
    readonly by: string;
    readonly because: string;
  },
) => Promise<boolean>;

/**
 * Advances every running search by one step: its figure has arrived, it requests more, or it has ended.
 *
 * Each in one transaction with its row locked, so that two servers never request the same measurement. A failure of one
 * stops no other; it is thrown at the end.
 */
export async function advanceSearches(db: Db, now: Date, ask: AskForFigure): Promise<number> {
  const seen: string[] = [];
  const troubles: unknown[] = [];
  for (;;) {
    let taken: string | undefined;
    try {
      await db.transaction(async (tx) => {
        const search = await takeRunningSearch(tx, seen);
        taken = search?.id;
        if (search !== undefined) await advance(tx, search, now, ask);
      });
    } catch (reason) {
      if (taken === undefined) throw reason;
      troubles.push(reason);
    }
    if (taken === undefined) break;
    seen.push(taken);
  }
  if (troubles.length > 0) throw troubles[0];
  return seen.length;
}

async function advance(tx: Tx, search: SearchRow, now: Date, ask: AskForFigure): Promise<void> {
  const line = await lineBetween(tx, search.from_id, search.to_id);
  const known = await knownOf(tx, search, line);
  const requested: number[] = [];
  for (;;) {
    const step = stepOf(search, line, known);
    let isAnyRefused = false;
    for (const position of step.ask) {
      const artifact = line[position];
      if (artifact === undefined) continue;
      const isRequested = await ask(tx, {
        suite: search.suite,
        artifact: artifact.tag,
        case: caseOf(search),
        by: search.requested_by,
        because: `${search.kind} ${search.id}`,
      });
      requested.push(artifact.id);
      known.set(position, isRequested ? "asked" : "failed");
      isAnyRefused ||= !isRequested;
    }
    // No notification follows for an artifact that cannot be measured, so the search skips it at once.
    if (isAnyRefused) continue;
    const steps = stepsByIds(line, step.steps);
    const over = step.over ? endOf(line, known, steps.length) : undefined;
    await writeSearchProgress(tx, search.id, {
      asked: requested,
      steps,
      ended: over === undefined ? undefined : { state: over.state, at: now },
      error: over?.error,
    });
    return;
  }
}

/**
 * Returns how a search ends: with fewer than two figures there was nothing to compare, which does not mean that nothing
 * changed.
 */
function endOf(
  line: readonly LineRow[],
  known: KnownLine["known"],
  steps: number,
): { readonly state: "found" | "nothing" | "failed"; readonly error?: string } {
  if (steps > 0) return { state: "found" };
  const figures = [...known.values()].filter((value) => typeof value === "number");
  if (figures.length >= 2) return { state: "nothing" };
  const without = [...known].flatMap(([position, value]) =>
    typeof value === "number" ? [] : [line[position]?.tag ?? "?"],
  );
  const named = without.slice(0, mostNamed).join(", ");
  return {
    state: "failed",
    error: `There is no figure of ${named}${without.length > mostNamed ? " and others" : ""}, so there is nothing to compare: see the errors of their requests, or search between other artifacts.`,
  };
}

const mostNamed = 5;

/** Returns the facts about each artifact of the line: `failed` for one whose request ended without a figure. */
async function knownOf(tx: Tx, search: SearchRow, line: readonly LineRow[]) {
  const ids = line.map(({ id }) => id);
  const requested = new Set(search.asked);
  // Before the figures: a request that ends in between would otherwise appear in neither result.
  const underWay = await artifactsUnderWay(tx, search.asked, search);
  const figures = new Map(
    (
      await figuresAlong(tx, ids, {
        caseId: search.case_id,
        suite: search.suite,
        metric: search.metric,
      })
    ).map(({ artifact_id, value }) => [artifact_id, value]),
  );
  const known = new Map<number, number | "failed" | "asked">();
  line.forEach(({ id }, position) => {
    const figure = figures.get(id);
    if (figure !== undefined) known.set(position, figure);
    else if (requested.has(id)) known.set(position, underWay.has(id) ? "asked" : "failed");
  });
  return known;
}

function stepOf(
  { kind, every, least }: SearchRow,
  line: readonly LineRow[],
  known: KnownLine["known"],
): SearchStep {
  const range = { length: line.length, known };
  switch (kind) {
    case "bisect":
      return planBisection(range, least);
    case "change-points":
      return planRefinement(range, least);
    case "scan": {
      const dates = line.map(({ dated_at }) => dated_at);
      return planScan(range, chooseScanned(dates, everyOf(every)), least);
    }
  }
}

export function caseOf(search: SearchRow): TestCase {
  const { section, benchmark, profile, scenario, backend, target } = search;
  return { section, benchmark, profile, scenario, backend, target };
}
