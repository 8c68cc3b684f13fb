import type { Steps } from "#api/benchmark-history.ts";
import type { Tx } from "#db/db.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { findSuite } from "../suites.store.ts";
import { pointsSince } from "./change-point.store.ts";
import { casesOf, ordinalsOf } from "./figures.store.ts";
import { namedMetrics } from "./measured-of.ts";
import { noSuite } from "./read-comparison.ts";
import { pointView } from "./read-series.ts";

interface StepsQuery {
  readonly suite: string;
  /** For artifacts made since then. */
  readonly since: Date;
  readonly standings: readonly ("found" | "accepted" | "dismissed")[];
  readonly most: number;
}

/** Returns steps of all series of a suite's main line, by the artifact that caused them, newest first. */
export async function readSteps(tx: Tx, query: StepsQuery): Promise<Steps> {
  const stored = await findSuite(tx, query.suite);
  if (stored === undefined) throw noSuite(query.suite);
  const [points, cases, ordinals] = await Promise.all([
    pointsSince(tx, query),
    casesOf(tx, query.suite),
    ordinalsOf(tx, query.suite),
  ]);
  const names = namedMetrics(ordinals);
  const better = new Map(metricsOf(stored.definition).map((each) => [each.name, each.better]));
  const steps = points.flatMap((point) => {
    const testCase = cases.get(point.caseId);
    const metric = names[point.metric - 1];
    if (testCase === undefined || metric === undefined) return [];
    const rises = point.meanAfter > point.meanBefore;
    const worse = better.get(metric) === "higher" ? !rises : rises;
    return [
      {
        ...pointView(point),
        case: testCase,
        metric,
        datedAt: point.datedAt.toISOString(),
        direction: worse ? ("regressed" as const) : ("improved" as const),
      },
    ];
  });
  return { suite: query.suite, since: query.since.toISOString(), steps };
}
