import type {
  SizeClassAlternative,
  SizeClassDecision,
  SizeClassKeyDetail,
} from "#api/size-class.ts";
import type { Tx } from "#db/db.ts";
import { latestDecisions } from "#execution/sizing/key-decisions.store.ts";
import { sizedRuns } from "#execution/sizing/sized-runs.store.ts";
import { levelOf } from "../key.ts";
import type { PastRun } from "../past-run.ts";
import { decisionsForPage } from "./decisions-for-page.ts";
import { keysNamed, remembered } from "./keys.store.ts";

const mostDecisions = 20;
const mostClasses = 64;

/** Returns everything that is stored under a key; undefined when there is none of that name. */
export async function explainKey(
  tx: Tx,
  query: { readonly project: string; readonly domain: string | undefined; readonly key: string },
): Promise<SizeClassKeyDetail | undefined> {
  const [known] = await keysNamed(tx, query);
  if (known === undefined) return undefined;
  const { project, domain, key, title, lastSeenAt } = known;
  const { lastFailureAt, failuresInARow, classes } = await remembered(tx, known, mostClasses);
  const kept = await latestDecisions(tx, known, mostDecisions);
  const ids = [...new Set(kept.map(({ executionId }) => executionId))];
  const runs = ids.length === 0 ? [] : await sizedRuns(tx, ids);
  const decisions = ids.flatMap((id) =>
    decisionsForPage(
      id,
      title,
      kept.filter(({ executionId }) => executionId === id).toSorted((a, b) => a.number - b.number),
      runs.filter(({ requestedId }) => requestedId === id),
    ).toReversed(),
  );
  return {
    project,
    domain,
    key,
    level: levelOf(key),
    title,
    lastSeenAt: lastSeenAt.toISOString(),
    lastFailureAt: lastFailureAt?.toISOString() ?? null,
    failuresInARow,
    classes: withEstimates(
      new Map(classes.map(({ sizeClass, runs: past }) => [sizeClass, past.map(pastRun)])),
      latestEstimates(decisions),
    ),
    decisions,
  };
}

function pastRun({ at, cpuMs, peakMemoryBytes, ...run }: PastRun) {
  return {
    ...run,
    cpuMs: cpuMs ?? null,
    peakMemoryBytes: peakMemoryBytes ?? null,
    at: new Date(at).toISOString(),
  };
}

/** From the latest decision that estimated a time. */
function latestEstimates(decisions: readonly SizeClassDecision[]): readonly SizeClassAlternative[] {
  const withTimes = decisions.find(({ alternatives }) =>
    alternatives.some(({ expectedMs }) => expectedMs !== null),
  );
  return withTimes?.alternatives ?? [];
}

function withEstimates(
  past: ReadonlyMap<number, ReturnType<typeof pastRun>[]>,
  estimates: readonly SizeClassAlternative[],
): SizeClassKeyDetail["classes"] {
  const classes = new Set([...past.keys(), ...estimates.map(({ sizeClass }) => sizeClass)]);
  return [...classes]
    .toSorted((a, b) => a - b)
    .map((sizeClass) => ({
      sizeClass,
      runs: past.get(sizeClass) ?? [],
      estimate: estimates.find((each) => each.sizeClass === sizeClass) ?? null,
    }));
}
