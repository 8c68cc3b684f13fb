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

/** Asks, in the search's transaction, for one case of an artifact to be measured. */
export type AskForFigure = (
  tx: Tx,
  wish: {
    readonly suite: string;
    readonly artifact: string;
    readonly case: TestCase;
    readonly by: string;
    readonly because: string;
  },
) => Promise<void>;

/**
 * Brings every running search one step further: what it waits for has come, or it asks for more, or it is over.
 *
 * Each is one transaction under the lock of its row, so two servers never ask for the same twice.
 */
export async function advanceSearches(db: Db, now: Date, ask: AskForFigure): Promise<number> {
  const seen: string[] = [];
  for (;;) {
    const taken = await db.transaction(async (tx) => {
      const search = await takeRunningSearch(tx, seen);
      if (search !== undefined) await advance(tx, search, now, ask);
      return search?.id;
    });
    if (taken === undefined) return seen.length;
    seen.push(taken);
  }
}

async function advance(tx: Tx, search: SearchRow, now: Date, ask: AskForFigure): Promise<void> {
  const line = await lineBetween(tx, search.from_id, search.to_id);
  const step = stepOf(search, line, await knownOf(tx, search, line));
  const asked = step.ask.flatMap((position) => line[position] ?? []);
  for (const artifact of asked) {
    await ask(tx, {
      suite: search.suite,
      artifact: artifact.tag,
      case: caseOf(search),
      by: search.requested_by,
      because: `${search.kind} ${search.id}`,
    });
  }
  const steps = stepsByIds(line, step.steps);
  await writeSearchProgress(tx, search.id, {
    asked: asked.map(({ id }) => id),
    steps,
    ended: step.over ? { state: steps.length > 0 ? "found" : "nothing", at: now } : undefined,
  });
}

/** What is known of each artifact of the line: asked for and ended without a figure, it has none to give. */
async function knownOf(tx: Tx, search: SearchRow, line: readonly LineRow[]) {
  const ids = line.map(({ id }) => id);
  const figures = new Map(
    (
      await figuresAlong(tx, ids, {
        caseId: search.case_id,
        suite: search.suite,
        metric: search.metric,
      })
    ).map(({ artifact_id, value }) => [artifact_id, value]),
  );
  const asked = new Set(search.asked);
  const underWay = await artifactsUnderWay(tx, search.asked);
  const known = new Map<number, number | "failed" | "asked">();
  line.forEach(({ id }, position) => {
    const figure = figures.get(id);
    if (figure !== undefined) known.set(position, figure);
    else if (asked.has(id)) known.set(position, underWay.has(id) ? "asked" : "failed");
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
