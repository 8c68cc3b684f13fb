import type { z } from "zod";
import type { CaseComparison, Report } from "#api/benchmark-comparison.ts";
import type { ChangeToConfirm } from "#api/collector.ts";
import { changesToConfirm as unconfirmedChanges } from "#comparison/changes-to-confirm.ts";
import { reportMarkdown } from "#comparison/report-markdown.ts";
import { statedChange } from "#comparison/summarise.ts";
import { overallDirection, verdictSentence } from "#comparison/verdict-sentence.ts";
import type { Tx } from "#db/db.ts";
import type { Suite } from "#suites/suite.ts";
import { compareStored } from "../history/compare-stored.ts";
import { artifactById, type LineArtifact } from "../history/line.store.ts";
import { noteNewResults } from "../history/note-results.ts";
import type { RequestHooks } from "../requests/request-hooks.ts";
import { findSuite } from "../suites.store.ts";
import { artifactsOfRequest, keepReport, requestedOf, requestToReport } from "./report.store.ts";

/** Returns verdicts of a request's pairs that need an independent rerun. */
export async function changesToConfirm(
  tx: Tx,
  requestId: string,
): Promise<z.infer<typeof ChangeToConfirm>[]> {
  const compared = await compareRequest(tx, requestId);
  if (compared === undefined) return [];
  const better = new Map(compared.metrics.map((metric) => [metric.name, metric.better]));
  const doubted = new Set(
    unconfirmedChanges(compared.cases, compared.suite.pairs.rounds).map((each) =>
      JSON.stringify([each.case, each.metric]),
    ),
  );
  return compared.cases.flatMap(({ case: testCase, metric, evidence }) => {
    if (evidence.by !== "pairs" || !doubted.has(JSON.stringify([testCase, metric]))) return [];
    const worse = better.get(metric) === "higher" ? evidence.effect < 0 : evidence.effect > 0;
    return [{ case: testCase, metric, direction: worse ? "regressed" : "improved" }];
  });
}

/**
 * Compares a request's artifact with its parent, stores the comparison once, and marks the changed series for the
 * search for steps. Without a parent, there is no report.
 */
export async function makeReport(tx: Tx, requestId: string, now: Date): Promise<void> {
  await noteNewResults(tx, await artifactsOfRequest(tx, requestId), now);
  const compared = await compareRequest(tx, requestId);
  if (compared === undefined) return;
  const { suite, before, after, metrics, cases, summaries, missing, newlyBroken } = compared;
  const isRequested = await requestedOf(tx, requestId);
  const deciding = metrics.filter(({ decides }) => decides).map(({ name }) => name);
  const told = {
    suite: suite.suite,
    before: before.tag,
    after: after.tag,
    summaries: [...summaries],
    changes: relevantFirst(cases, deciding),
    // Cases that only the parent has, and that this request did not include, do not count as missing.
    missing: missing.filter((each) => each.missing === "before" || isRequested(each.case)),
    newlyBroken: [...newlyBroken],
  };
  const reproduce = `grange bench compare ${before.tag} ${after.tag} --suite ${suite.suite} --server`;
  const report: Report = {
    requestId,
    ...told,
    madeAt: now.toISOString(),
    verdict: verdictSentence({ ...told, deciding }),
    direction: overallDirection({ ...told, deciding }),
    reproduce,
    markdown: reportMarkdown({ ...told, deciding, reproduce, metrics }),
  };
  await keepReport(tx, report);
}

export const reportHooks: RequestHooks = { changesToConfirm, makeReport };

/** Relevant ones of metrics that decide, the largest first; a change from zero is the largest. */
function relevantFirst(
  cases: readonly CaseComparison[],
  deciding: readonly string[],
): CaseComparison[] {
  const size = (each: CaseComparison) => Math.abs(statedChange(each) ?? Number.POSITIVE_INFINITY);
  return cases
    .filter(({ relevant, metric }) => relevant && deciding.includes(metric))
    .toSorted((a, b) => (size(a) === size(b) ? 0 : size(b) - size(a)));
}

type Compared = Awaited<ReturnType<typeof compareStored>> & {
  readonly suite: Suite;
  readonly before: LineArtifact;
  readonly after: LineArtifact;
};

async function compareRequest(tx: Tx, requestId: string): Promise<Compared | undefined> {
  const request = await requestToReport(tx, requestId);
  if (request === undefined || request.parentId === null) return undefined;
  const [stored, before, after] = await Promise.all([
    findSuite(tx, request.suite),
    artifactById(tx, request.parentId),
    artifactById(tx, request.artifactId),
  ]);
  if (stored === undefined || before === undefined || after === undefined) return undefined;
  const suite = stored.definition;
  const compared = await compareStored(tx, { suite, before, after, metric: undefined });
  return { suite, before, after, ...compared };
}
