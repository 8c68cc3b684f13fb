import type { EdgeCondition } from "#api/graph.ts";
import { type Catalog, catalogOf, digestOfDefinition } from "#definitions/catalog.ts";
import { definitionLimits } from "#definitions/definition-limits.ts";
import { problemNowhere } from "#definitions/definition-origin.ts";
import { type DefinitionProblem, DefinitionProblems } from "#definitions/definition-problems.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import { conditionOf, problemOfNeededEnd } from "#definitions/need-condition.ts";
import { needsOf } from "#definitions/needs-of.ts";
import type { DefinedJob, Definitions } from "#definitions/read-definitions.ts";
import { mapInTurns, turns } from "#scheduling/turns.ts";
import { inactiveJobs, selectedJobs, wantedJobs } from "./catalogs/choose-jobs.ts";
import { findCycle } from "./find-cycle.ts";

export interface PlannedEdge {
  /** The job that waits. */
  readonly job: string;
  /** The job that it waits for. */
  readonly on: string;
  readonly condition: EdgeCondition;
}

/** The content of a graph. */
export interface Plan {
  readonly catalog: Catalog;
  readonly edges: readonly PlannedEdge[];
  /** Jobs that are in the graph but run only on request. */
  readonly inactive: ReadonlySet<string>;
}

/**
 * Turns definitions into the jobs and edges of a graph; throws `DefinitionProblems`.
 *
 * A job whose `when` is false is left out, together with the jobs that need it, unless their need is optional. `select`
 * narrows the selection of the requested graph.
 */
export async function plan({ jobs, graph }: Definitions, select?: string): Promise<Plan> {
  const turn = turns();
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const problems = (await mapInTurns(jobs, (job) => problemsOfNeeds(job, byName))).flat();
  if (problems.length > 0)
    throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
  await turn();
  throwIfCyclic(byName);

  await turn();
  const all = wantedJobs(byName);
  const wanted = selectedJobs(all, [graph?.select, select]);
  if (all.size > 0 && wanted.size === 0) throw nothingSelected(select ?? graph?.select ?? "");
  await turn();
  const inactive = inactiveJobs(wanted, graph?.inactive);
  const edges: PlannedEdge[] = [];
  for (const job of wanted.values()) {
    const waiting = turn();
    if (waiting !== undefined) await waiting;
    for (const [on, need] of Object.entries(needsOf(job.definition))) {
      if (!wanted.has(on)) continue;
      // An inactive optional need does not block the job until it is activated.
      if (need.optional === true && inactive.has(on) && !inactive.has(job.name)) continue;
      edges.push({ job: job.name, on, condition: conditionOf(need.on) });
    }
  }
  throwIfEmptyOrHuge(jobs, wanted, edges);
  // The catalog reuses known names.
  await mapInTurns(wanted.values(), ({ definition }) => digestOfDefinition(definition));
  await turn();
  return {
    catalog: catalogOf(new Map([...wanted].map(([name, job]) => [name, job.definition]))),
    edges,
    inactive,
  };
}

function problemsOfNeeds(
  job: DefinedJob,
  byName: ReadonlyMap<string, DefinedJob>,
): DefinitionProblem[] {
  const named = Object.entries(job.definition.needs ?? {}).flatMap(([on, need]) => {
    const other = byName.get(on);
    if (other === undefined) {
      const message = `job "${job.name}" needs "${on}", which does not exist${suggestion(on, byName.keys())}`;
      return [job.problemAt(["needs", on], message, "key")];
    }
    const wrongEnd = problemOfNeededEnd(need.on, Object.keys(other.definition.failure ?? {}));
    if (wrongEnd !== undefined) {
      const message = `job "${job.name}" needs "${on}" with an impossible end: ${wrongEnd}`;
      return [job.problemAt(["needs", on, "on"], message)];
    }
    const made = other.definition.outputs ?? [];
    return (need.outputs ?? [])
      .filter((path) => !made.some((output) => path === output || path.startsWith(`${output}/`)))
      .map((path) => {
        const says = made.length === 0 ? "it has no outputs" : `its outputs are ${made.join(", ")}`;
        const message = `job "${job.name}" takes "${path}" of "${on}", which does not make it: ${says}`;
        return job.problemAt(["needs", on, "outputs"], message);
      });
  });
  return [...named, ...problemsOfFinder(job, byName)];
}

/** Returns the problems of the job that finds the inputs of another one. */
function problemsOfFinder(
  job: DefinedJob,
  byName: ReadonlyMap<string, DefinedJob>,
): DefinitionProblem[] {
  const from = job.definition["inputs-from"];
  if (from === undefined) return [];
  const finder = byName.get(from.job);
  if (finder === undefined) {
    // A job that is also named among the needs is checked there.
    if (Object.hasOwn(job.definition.needs ?? {}, from.job)) return [];
    const message = `the inputs of job "${job.name}" come from "${from.job}", which does not exist${suggestion(from.job, byName.keys())}`;
    return [job.problemAt(["inputs-from", "job"], message)];
  }
  const made = finder.definition.outputs ?? [];
  if (made.some((path) => from.output === path || from.output.startsWith(`${path}/`))) return [];
  const says = made.length === 0 ? "it has no outputs" : `its outputs are ${made.join(", ")}`;
  const message = `the inputs of job "${job.name}" come from "${from.output}", which "${from.job}" does not make: ${says}`;
  return [job.problemAt(["inputs-from", "output"], message)];
}

function throwIfCyclic(byName: ReadonlyMap<string, DefinedJob>): void {
  const needs = new Map(
    [...byName].map(([name, job]) => [name, Object.keys(needsOf(job.definition))]),
  );
  const cycle = findCycle(needs);
  if (cycle === undefined) return;
  const places = cycle.slice(0, -1).flatMap((name, i) => {
    const job = byName.get(name);
    const on = cycle[i + 1] ?? "";
    const isNamed = Object.hasOwn(job?.definition.needs ?? {}, on);
    const place = job?.problemAt(isNamed ? ["needs", on] : ["inputs-from", "job"], "", "key");
    return place === undefined ? [] : [place];
  });
  const ring =
    cycle.length === 2
      ? `job "${cycle[0]}" needs itself`
      : `jobs wait for each other: ${shortened(cycle).join(" → ")}`;
  const where = places.slice(0, 10).map(({ file, line }) => `${file}:${line}`);
  const message = `${ring} (${where.join(", ")}); remove one of these needs`;
  throw new DefinitionProblems(places.slice(0, 1).map((place) => ({ ...place, message })));
}

function shortened(cycle: readonly string[]): readonly string[] {
  return cycle.length <= 12 ? cycle : [...cycle.slice(0, 6), "…", ...cycle.slice(-5)];
}

function nothingSelected(select: string): DefinitionProblems {
  const message = `no job is selected by ${JSON.stringify(select)}; "*" is every job`;
  return new DefinitionProblems([problemNowhere(message)]);
}

function throwIfEmptyOrHuge(
  jobs: readonly DefinedJob[],
  wanted: ReadonlyMap<string, DefinedJob>,
  edges: readonly PlannedEdge[],
): void {
  const here = { file: ".grange", line: null, column: null };
  if (edges.length > definitionLimits.edges) {
    const message = `the jobs need each other ${edges.length} times, more than 200,000; gather some with "kind: join"`;
    throw new DefinitionProblems([{ ...here, message }]);
  }
  if (wanted.size > definitionLimits.jobs) {
    const message = `the graph has ${wanted.size} jobs, more than 20,000: select some of them`;
    throw new DefinitionProblems([{ ...here, message }]);
  }
  if (wanted.size > 0) return;
  const message =
    jobs.length === 0
      ? 'no job is defined; "grange init" writes a first one'
      : "no job is left for this commit: the `when` of each is false";
  throw new DefinitionProblems([{ ...here, message }]);
}
