import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { JobPurpose } from "#api/benchmark-request.ts";
import type { ChangeToConfirm } from "#api/collector.ts";
import { caseKey, type Section } from "#core/test-case.ts";
import { metricsOf } from "#suites/metrics-of.ts";
import { planCases, setOf } from "#suites/plan-cases.ts";
import { type PlannedJob, planJobs } from "#suites/plan-jobs.ts";
import type { Suite } from "#suites/suite.ts";
import type { StoredArtifact } from "./artifact.store.ts";

/** The content of a request; empty lists mean the suite's defaults. */
export interface Request {
  readonly backends: readonly string[];
  readonly profiles: readonly string[];
  readonly targets: readonly string[];
  readonly benchmarks: readonly string[];
  readonly paired: boolean;
  /** How often each case is run; null: as in the suite. */
  readonly runs: number | null;
}

export interface NewJob extends PlannedJob {
  readonly id: string;
  readonly artifactId: number;
  readonly againstId: number | null;
  readonly purpose: z.infer<typeof JobPurpose>;
  readonly runs: number | null;
  readonly doubts?: readonly z.infer<typeof ChangeToConfirm>[];
  /** All of it has results already: the job ends when it is created. */
  readonly done: boolean;
}

/** The facts about an artifact. */
export interface Standing {
  readonly artifact: Pick<StoredArtifact, "id" | "components">;
  /** By `caseKey`, the number of runs behind each existing result. */
  readonly measured: ReadonlyMap<string, number>;
}

/**
 * Returns the jobs of one artifact, by the suite and the request.
 *
 * A request with only optional jobs waits for them: otherwise it would end and be reported before it started.
 */
export function ownJobs(
  suite: Suite,
  wanted: Omit<Request, "paired" | "runs">,
  artifact: Pick<StoredArtifact, "components">,
): PlannedJob[] {
  const jobs = planJobs(suite, { ...wanted, available: Object.keys(artifact.components) });
  return jobs.every(({ optional }) => optional)
    ? jobs.map((job) => ({ ...job, optional: false }))
    : jobs;
}

/**
 * Returns all jobs that a request needs: its own, those that its parent lacks for the comparison, and pairs.
 *
 * A parent is completed in all sections, whatever its age, but only where it has no result, or a result of fewer runs
 * than requested: the minimum of more runs is lower.
 */
export function planRequest(
  suite: Suite,
  wanted: Request,
  own: Standing,
  parent: Standing | undefined,
): NewJob[] {
  const { runs } = wanted;
  const planned = ownJobs(suite, wanted, own.artifact);
  const isDone = (job: PlannedJob, standing: Standing) => isMeasured(suite, job, standing, runs);
  const shared =
    parent === undefined
      ? []
      : planned.filter(({ backend }) => Object.hasOwn(parent.artifact.components, backend));
  return [
    ...planned.map((job) => ({
      ...newJob(job, "own", own.artifact.id, null, isDone(job, own)),
      runs,
    })),
    ...shared.flatMap((job) =>
      parent === undefined || isDone(job, parent)
        ? []
        : [{ ...newJob(job, "backfill", parent.artifact.id, null, false), runs }],
    ),
    ...(wanted.paired ? shared : []).flatMap((job) =>
      parent === undefined || !hasNoisyMetric(suite, job.section)
        ? []
        : [newJob(job, "paired", own.artifact.id, parent.artifact.id, false)],
    ),
  ];
}

/** Returns the jobs of an independent rerun, one for each slice with a doubtful verdict. */
export function confirmingJobs(
  suite: Suite,
  doubts: readonly z.infer<typeof ChangeToConfirm>[],
  artifactId: number,
  againstId: number,
): NewJob[] {
  const slices = new Map<string, z.infer<typeof ChangeToConfirm>[]>();
  for (const doubt of doubts) {
    const { section, target, backend, profile, benchmark } = doubt.case;
    const defined = suite[section]?.benchmarks[benchmark];
    const set = defined === undefined ? 0 : setOf(section, defined);
    const slice = JSON.stringify({ section, target, backend, profile, set });
    slices.set(slice, [...(slices.get(slice) ?? []), doubt]);
  }
  return [...slices].map(([slice, inDoubt]) => {
    const job = JSON.parse(slice) as Omit<PlannedJob, "benchmarks" | "optional">;
    const benchmarks = [...new Set(inDoubt.map((doubt) => doubt.case.benchmark))].toSorted();
    const optional = suite.targets[job.target]?.optional ?? false;
    return {
      ...newJob({ ...job, benchmarks, optional }, "confirm", artifactId, againstId, false),
      doubts: inDoubt,
    };
  });
}

function newJob(
  job: PlannedJob,
  purpose: NewJob["purpose"],
  artifactId: number,
  againstId: number | null,
  done: boolean,
): NewJob {
  return { ...job, id: randomUUID(), purpose, artifactId, againstId, done, runs: null };
}

function isMeasured(
  suite: Suite,
  job: PlannedJob,
  { measured }: Standing,
  runs: number | null,
): boolean {
  return planCases(suite, job).every((each) => (measured.get(caseKey(each)) ?? 0) >= (runs ?? 1));
}

/** Alternating processes contain no information about counts. */
function hasNoisyMetric(suite: Suite, section: Section): boolean {
  return metricsOf(suite).some(
    ({ name, nature, decides }) =>
      nature === "noisy" && decides && (suite.metrics[name]?.sections?.includes(section) ?? true),
  );
}
