import type { EdgeCondition } from "#api/graph.ts";
import { type Catalog, catalogOf } from "./catalog.ts";
import { definitionLimits } from "./definitions/definition-limits.ts";
import { type DefinitionProblem, DefinitionProblems } from "./definitions/definition-problems.ts";
import { suggestion } from "./definitions/nearest-name.ts";
import type { DefinedJob, Definitions } from "./definitions/read-definitions.ts";
import { findCycle } from "./find-cycle.ts";

export interface PlannedEdge {
  /** The job that waits. */
  readonly job: string;
  /** The job that it waits for. */
  readonly on: string;
  readonly condition: EdgeCondition;
}

/** What a graph will consist of. */
export interface Plan {
  readonly catalog: Catalog;
  readonly edges: readonly PlannedEdge[];
  /** Jobs that are in the graph, but run only when somebody asks for them. */
  readonly inactive: ReadonlySet<string>;
}

/**
 * Turns definitions into the jobs and edges of a graph; throws `DefinitionProblems`.
 *
 * A job whose `when` is false takes the jobs that need it along, unless they
 * say that the need is optional.
 */
export function plan({ jobs }: Definitions): Plan {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const problems = jobs.flatMap((job) => problemsOfNeeds(job, byName));
  if (problems.length > 0)
    throw new DefinitionProblems(problems.slice(0, definitionLimits.problems));
  throwIfCyclic(byName);

  const wanted = withoutDroppedNeeds(byName);
  const edges: PlannedEdge[] = [];
  for (const job of wanted.values()) {
    for (const [on, need] of Object.entries(job.definition.needs ?? {})) {
      if (wanted.has(on)) edges.push({ job: job.name, on, condition: need.on ?? "success" });
    }
  }
  throwIfEmptyOrHuge(jobs, wanted, edges);
  return {
    catalog: catalogOf(new Map([...wanted].map(([name, job]) => [name, job.definition]))),
    edges,
    inactive: new Set(),
  };
}

function problemsOfNeeds(
  job: DefinedJob,
  byName: ReadonlyMap<string, DefinedJob>,
): DefinitionProblem[] {
  return Object.entries(job.definition.needs ?? {}).flatMap(([on, need]) => {
    const other = byName.get(on);
    if (other === undefined) {
      const message = `job "${job.name}" needs "${on}", which does not exist${suggestion(on, byName.keys())}`;
      return [job.problemAt(["needs", on], message, "key")];
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
}

function throwIfCyclic(byName: ReadonlyMap<string, DefinedJob>): void {
  const needs = new Map(
    [...byName].map(([name, job]) => [name, Object.keys(job.definition.needs ?? {})]),
  );
  const cycle = findCycle(needs);
  if (cycle === undefined) return;
  const places = cycle.slice(0, -1).flatMap((name, i) => {
    const place = byName.get(name)?.problemAt(["needs", cycle[i + 1] ?? ""], "", "key");
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

/** The jobs that are in the graph: in order of definition, without those that lost what they need. */
function withoutDroppedNeeds(byName: ReadonlyMap<string, DefinedJob>): Map<string, DefinedJob> {
  const neededBy = new Map<string, string[]>();
  for (const job of byName.values()) {
    for (const [on, need] of Object.entries(job.definition.needs ?? {})) {
      if (need.optional !== true) neededBy.set(on, [...(neededBy.get(on) ?? []), job.name]);
    }
  }
  const dropped = new Set([...byName.values()].filter((job) => !job.wanted).map((job) => job.name));
  // A set grows while it is walked: those that are added are visited too.
  for (const name of dropped) for (const waiting of neededBy.get(name) ?? []) dropped.add(waiting);
  return new Map([...byName].filter(([name]) => !dropped.has(name)));
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
  if (wanted.size > 0) return;
  const message =
    jobs.length === 0
      ? 'no job is defined; "grange init" writes a first one'
      : "no job is left for this commit: the `when` of each is false";
  throw new DefinitionProblems([{ ...here, message }]);
}
