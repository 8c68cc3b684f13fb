import { baseName } from "../repository-files.ts";
import type { NeededTool, StarterJob } from "../starter-job.ts";
import { type ConvertedJob, convertJob, type LeftOut, type Surroundings } from "./convert-job.ts";
import type { ExpressionValue } from "./expression.ts";
import { type Combination, combinationsOf } from "./matrix.ts";
import { eventsOf, readWorkflow, type Workflow } from "./workflow-file.ts";
import { noteLines, type WorkflowNote } from "./workflow-notes.ts";

interface ConvertedWorkflows {
  /** For people: `ci.yml: 3 of 4 jobs`. */
  readonly found: readonly string[];
  readonly jobs: readonly StarterJob[];
  readonly tools: readonly NeededTool[];
  /** The parts that could not be converted. */
  readonly leftOut: readonly LeftOut[];
  /** The parts that work differently. */
  readonly notes: readonly string[];
}

interface ConvertedFile extends Omit<ConvertedWorkflows, "notes"> {
  readonly notes: readonly { readonly file: string; readonly note: WorkflowNote }[];
}

/** The events for which a farm creates a graph, the usual one first. */
const events = ["push", "pull_request", "pull_request_target", "merge_group"];

/**
 * Converts the files of .github/workflows, by path, into jobs; and lists the parts that it cannot convert, with the
 * reasons.
 */
export function convertWorkflows(
  texts: ReadonlyMap<string, string>,
  surroundings: Surroundings = { actions: new Map() },
): ConvertedWorkflows {
  const parts = [...texts].map(([path, text]) => convertFile(baseName(path), text, surroundings));
  const tools = new Map(parts.flatMap((part) => part.tools).map((tool) => [tool.program, tool]));
  return {
    found: parts.flatMap((part) => part.found),
    jobs: parts.flatMap((part) => part.jobs),
    tools: [...tools.values()],
    leftOut: parts.flatMap((part) => part.leftOut),
    notes: noteLines(parts.flatMap((part) => part.notes)),
  };
}

function convertFile(file: string, text: string, surroundings: Surroundings): ConvertedFile {
  const nothing = (reason: string): ConvertedFile => ({
    found: [`${file}: no job`],
    jobs: [],
    tools: [],
    leftOut: [{ where: file, reason }],
    notes: [],
  });
  const read = readWorkflow(text);
  if ("problem" in read) return nothing(`it ${read.problem}`);
  const { workflow } = read;
  const started = eventsOf(workflow);
  const event = events.find((each) => started.includes(each));
  if (event === undefined)
    return nothing(`it runs on ${started.join(", ") || "no event"}, not on commits`);
  return convertWorkflow(file, workflow, event, surroundings);
}

interface NamedJobs {
  readonly id: string;
  readonly names: readonly string[];
}

function convertWorkflow(
  file: string,
  workflow: Workflow,
  event: string,
  surroundings: Surroundings,
): ConvertedFile {
  const group = file.replace(/\.ya?ml$/, "").replace(/[^A-Za-z0-9._-]/g, "-");
  const jobs: StarterJob[] = [];
  const named: NamedJobs[] = [];
  const tools: NeededTool[] = [];
  const notes: { file: string; note: WorkflowNote }[] = [];
  const leftOut: LeftOut[] = [];
  const ids = Object.keys(workflow.jobs);
  const used = new Set<string>();
  for (const [id, job] of Object.entries(workflow.jobs)) {
    const where = `${file}, job ${id}`;
    const combinations = combinationsOf(job.strategy?.matrix);
    if (combinations === undefined) {
      leftOut.push({
        where,
        reason: "its matrix is computed when it runs, or has too many entries",
      });
      continue;
    }
    const { variants, reasons } = variantsOf(combinations, (combination) =>
      convertJob({ workflow, surroundings, event, job, combination }),
    );
    for (const reason of reasons) leftOut.push({ where, reason });
    const names = variants.map(({ label }) => freshName(`${group}/${id}${label}`, used));
    named.push({ id, names });
    variants.forEach(({ converted }, index) => {
      jobs.push({ ...converted.job, name: names[index] ?? id, needs: job.needs ?? [] });
      tools.push(...converted.tools);
      notes.push(...converted.notes.map((note) => ({ file, note })));
    });
    const [first] = variants;
    leftOut.push(
      ...(first?.converted.leftOut ?? []).map((each) => ({
        ...each,
        where: `${where}, ${each.where}`,
      })),
    );
  }
  const written = named.filter(({ names }) => names.length > 0).length;
  return {
    found: [`${file}: ${written} of ${ids.length} jobs`],
    jobs: jobs.map((job) => resolveNeeds(job, named)),
    tools,
    leftOut,
    notes,
  };
}

interface Variant {
  readonly label: string;
  readonly converted: Extract<ConvertedJob, { kind: "job" }>;
}

/**
 * Converts a job for each combination of its matrix, and keeps those that differ.
 *
 * A matrix of versions that only setup actions read gives the same job each time: the worker has one version.
 */
function variantsOf(
  combinations: readonly Combination[],
  convert: (combination: Combination) => ConvertedJob,
): { variants: Variant[]; reasons: string[] } {
  const reasons = new Set<string>();
  const distinct = new Map<string, { combination: Combination; converted: Variant["converted"] }>();
  const skipped: string[] = [];
  for (const combination of combinations) {
    const converted = convert(combination);
    if (converted.kind === "impossible") reasons.add(converted.reason);
    else if (converted.kind === "skipped") skipped.push(converted.reason);
    else {
      const key = JSON.stringify(converted.job);
      if (!distinct.has(key)) distinct.set(key, { combination, converted });
    }
  }
  if (skipped.length === combinations.length) for (const reason of skipped) reasons.add(reason);
  const all = [...distinct.values()];
  const differing = [...new Set(all.flatMap(({ combination }) => [...combination.keys()]))].filter(
    (name) => new Set(all.map(({ combination }) => combination.get(name))).size > 1,
  );
  const variants = all.map(({ combination, converted }) => ({
    converted,
    label: all.length === 1 ? "" : differing.map((name) => labelOf(combination.get(name))).join(""),
  }));
  return { variants, reasons: [...reasons] };
}

function labelOf(value: ExpressionValue | undefined): string {
  const text = String(value ?? "")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return text === "" ? "" : `-${text.slice(0, 40)}`;
}

function freshName(wanted: string, used: Set<string>): string {
  const base = wanted.slice(0, 120);
  let name = base;
  for (let count = 2; used.has(name); count++) name = `${base}-${count}`;
  used.add(name);
  return name;
}

/** Makes a job wait for all variants of the jobs that it needs, except those that were not converted. */
function resolveNeeds(job: StarterJob, named: readonly NamedJobs[]): StarterJob {
  const needs = (job.needs ?? []).flatMap(
    (id) => named.find((each) => each.id === id)?.names ?? [],
  );
  return { ...job, needs };
}
