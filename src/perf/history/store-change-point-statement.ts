import type { ChangePointView } from "#api/benchmark-history.ts";
import { Fault } from "#core/fault.ts";
import type { TestCase } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { pointsOfSeries, saveStatement, storeFoundPoints } from "./change-point.store.ts";
import { fingerprintsOf } from "./figures.store.ts";
import { artifactByTag } from "./line.store.ts";
import { findSeriesParts, metricOf, pointView } from "./read-series.ts";
import { pointsOf } from "./series.store.ts";

interface StepStatement {
  readonly suite: string;
  readonly case: TestCase;
  readonly metric: string;
  readonly fingerprint: string;
  /** The first artifact after the step. */
  readonly artifact: string;
  readonly standing: "found" | "accepted" | "dismissed";
  readonly note: string | null;
}

/** The number of values on either side of a step that a person marks. */
const beside = 30;

/**
 * Stores a person's statement about a step. A step that was not found can be accepted, too: the author of the change
 * knows better than statistics.
 */
export async function storeChangePointStatement(
  tx: Tx,
  word: StepStatement,
  by: string,
  now: Date,
): Promise<ChangePointView> {
  const { suite, ordinals, caseId } = await findSeriesParts(tx, word.suite, word.case);
  const metric = ordinals.get(metricOf(suite, word.metric).name);
  const artifact = await artifactByTag(tx, word.suite, word.artifact);
  if (metric === undefined || artifact === undefined) throw noStep(word);
  const of = { caseId, metric, fingerprint: word.fingerprint, artifactId: artifact.id };
  const statement = { standing: word.standing, by, note: word.note };
  if (!(await saveStatement(tx, of, statement))) {
    if (word.standing !== "accepted") throw noStep(word);
    await addNamedStep(tx, word, of, now);
    await saveStatement(tx, of, statement);
  }
  const points = await pointsOfSeries(tx, caseId, metric);
  const point = points.find(
    (each) => each.artifact === word.artifact && each.fingerprint === word.fingerprint,
  );
  if (point === undefined) throw noStep(word);
  return pointView(point);
}

async function addNamedStep(
  tx: Tx,
  word: StepStatement,
  of: { readonly caseId: number; readonly metric: number; readonly artifactId: number },
  now: Date,
): Promise<void> {
  const [all, fingerprints] = await Promise.all([
    pointsOf(tx, { caseId: of.caseId, ordinal: of.metric, kind: "master" }),
    fingerprintsOf(tx),
  ]);
  const points = all.filter(
    ({ environmentId }) => fingerprints.get(environmentId) === word.fingerprint,
  );
  const at = points.findIndex(({ artifactId }) => artifactId === of.artifactId);
  const [first, last] = [points[at], points[at - 1]];
  if (first === undefined || last === undefined) throw noStep(word);
  const mean = (some: typeof points) =>
    some.reduce((sum, { value }) => sum + value, 0) / some.length;
  await storeFoundPoints(
    tx,
    [
      {
        ...of,
        environmentId: first.environmentId,
        beforeId: last.artifactId,
        meanBefore: mean(points.slice(Math.max(0, at - beside), at)),
        meanAfter: mean(points.slice(at, at + beside)),
        // No test supports it.
        p: 1,
      },
    ],
    now,
  );
}

function noStep({ artifact, metric, fingerprint }: StepStatement): Fault {
  return new Fault(
    "not_found",
    `there is no step of ${metric} at ${artifact} on machines ${fingerprint.slice(0, 12)}, and no figure on both sides of it`,
  );
}
