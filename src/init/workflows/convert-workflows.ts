import { messageOf } from "#core/fault.ts";
import { baseName } from "../repository-files.ts";
import type { NeededTool, StarterJob } from "../starter-job.ts";
import { type CallInputs, inputsOfCall, pathOfCalled } from "./called-workflow.ts";
import {
  type ConvertedJob,
  contextOf,
  convertJob,
  type LeftOut,
  type Surroundings,
} from "./convert-job.ts";
import { conditionHolds, type ExpressionValue } from "./expression.ts";
import { type Combination, combinationsOf } from "./matrix.ts";
import { eventsOf, readWorkflow, type Workflow, type WorkflowJob } from "./workflow-file.ts";
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
  /** Whether commits start it. */
  readonly isStarted: boolean;
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
  const called = new Set<string>();
  const all = [...texts.keys()].map((path) => ({
    path,
    part: convertFile(path, texts, surroundings, called),
  }));
  // The jobs of a called workflow are among those of its callers.
  const parts = all
    .filter(({ path, part }) => part.jobs.length > 0 || part.isStarted || !called.has(path))
    .map(({ part }) => part);
  const tools = new Map(parts.flatMap((part) => part.tools).map((tool) => [tool.program, tool]));
  return {
    found: parts.flatMap((part) => part.found),
    jobs: parts.flatMap((part) => part.jobs),
    tools: [...tools.values()],
    leftOut: parts.flatMap((part) => part.leftOut),
    notes: noteLines(parts.flatMap((part) => part.notes)),
  };
}

function convertFile(
  path: string,
  texts: ReadonlyMap<string, string>,
  surroundings: Surroundings,
  called: Set<string>,
): ConvertedFile {
  const file = baseName(path);
  const nothing = (reason: string, isStarted: boolean): ConvertedFile => ({
    found: [`${file}: no job`],
    jobs: [],
    tools: [],
    leftOut: [{ where: file, reason }],
    notes: [],
    isStarted,
  });
  const read = readWorkflow(texts.get(path) ?? "");
  if ("problem" in read) return nothing(`it ${read.problem}`, true);
  const { workflow } = read;
  const started = eventsOf(workflow);
  const event = events.find((each) => started.includes(each));
  if (event === undefined)
    return nothing(`it runs on ${started.join(", ") || "no event"}, not on commits`, false);
  const conversion: Conversion = {
    file,
    event,
    surroundings,
    texts,
    called,
    tools: [],
    notes: [],
    leftOut: [],
    usedNames: new Set(),
    calledJobs: 0,
  };
  return convertWorkflow(conversion, path, workflow);
}

/** The conversion of one file, with the workflows that it calls. */
interface Conversion {
  readonly file: string;
  readonly event: string;
  readonly surroundings: Surroundings;
  /** All workflows of the repository, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** The paths of the workflows that others call. */
  readonly called: Set<string>;
  readonly tools: NeededTool[];
  readonly notes: { file: string; note: WorkflowNote }[];
  readonly leftOut: LeftOut[];
  readonly usedNames: Set<string>;
  /** How many jobs of called workflows were read. */
  calledJobs: number;
}

/** A workflow that is converted: that of the file, or one that it calls. */
interface PlacedWorkflow {
  readonly workflow: Workflow;
  /** For people: `ci.yml`, or `ci.yml, job a, lint.yml`. */
  readonly where: string;
  /** The first part of the names of its jobs. */
  readonly prefix: string;
  readonly inputs: CallInputs;
  /** The paths of the workflows that call each other, the outermost first and this one last. */
  readonly chain: readonly string[];
}

/** GitHub's limit for workflows that call each other, with the outermost. */
const mostLevels = 10;
/** More jobs would not be a useful start, and workflows with matrices that call each other could give any number. */
const mostCalledJobs = 1_000;

function convertWorkflow(conversion: Conversion, path: string, workflow: Workflow): ConvertedFile {
  const { file, tools, notes, leftOut } = conversion;
  const prefix = file.replace(/\.ya?ml$/, "").replace(/[^A-Za-z0-9._-]/g, "-");
  const entries = convertJobs(conversion, {
    workflow,
    where: file,
    prefix,
    inputs: new Map(),
    chain: [path],
  });
  const written = entries.filter(({ jobs }) => jobs.length > 0).length;
  return {
    found: [`${file}: ${written} of ${entries.length} jobs`],
    jobs: entries.flatMap(({ jobs }) => jobs),
    tools,
    leftOut,
    notes,
    isStarted: true,
  };
}

/** A job of a workflow, and the jobs that it became. */
interface Entry {
  readonly id: string;
  readonly needs: readonly string[];
  readonly jobs: readonly StarterJob[];
}

function convertJobs(conversion: Conversion, placed: PlacedWorkflow): Entry[] {
  const entries: Entry[] = [];
  for (const [id, job] of Object.entries(placed.workflow.jobs)) {
    entries.push({ id, needs: job.needs ?? [], jobs: jobsFor(conversion, placed, id, job) });
  }
  return entries.map((entry) => ({ ...entry, jobs: resolveNeeds(entry, entries) }));
}

function jobsFor(
  conversion: Conversion,
  placed: PlacedWorkflow,
  id: string,
  job: WorkflowJob,
): readonly StarterJob[] {
  const { leftOut, surroundings, event } = conversion;
  const { workflow, inputs } = placed;
  const where = `${placed.where}, job ${id}`;
  const combinations = combinationsOf(job.strategy?.matrix);
  const leaveOut = (reason: string) => {
    leftOut.push({ where, reason });
    return [];
  };
  if (combinations === undefined)
    return leaveOut("its matrix is computed when it runs, or has too many entries");
  if (placed.chain.length > 1) conversion.calledJobs += combinations.length;
  if (conversion.calledJobs > mostCalledJobs)
    return leaveOut(`the called workflows have more than ${mostCalledJobs} jobs`);
  const path = pathOfCalled(job.uses ?? "");
  const text = path === undefined ? undefined : conversion.texts.get(path);
  if (path !== undefined && text !== undefined) {
    if (placed.chain.includes(path)) return leaveOut(`${job.uses} calls itself`);
    if (placed.chain.length === mostLevels)
      return leaveOut(`it calls workflows more than ${mostLevels} levels deep`);
    const read = readWorkflow(text);
    if ("problem" in read) return leaveOut(`${job.uses} ${read.problem}`);
    conversion.called.add(path);
    return convertCalls(conversion, placed, { id, job, path, called: read.workflow, combinations });
  }
  const { variants, reasons } = variantsOf(combinations, (combination) =>
    convertJob({ workflow, surroundings, event, inputs, job, combination }),
  );
  for (const reason of reasons) leaveOut(reason);
  const [first] = variants;
  leftOut.push(
    ...(first?.converted.leftOut ?? []).map((each) => ({
      ...each,
      where: `${where}, ${each.where}`,
    })),
  );
  return variants.map(({ label, converted }) => {
    conversion.tools.push(...converted.tools);
    conversion.notes.push(...converted.notes.map((note) => ({ file: conversion.file, note })));
    const name = freshName(`${placed.prefix}/${id}${label}`, conversion.usedNames);
    return { ...converted.job, name, needs: [] };
  });
}

interface CallingJob {
  readonly id: string;
  readonly job: WorkflowJob;
  readonly path: string;
  readonly called: Workflow;
  readonly combinations: readonly Combination[];
}

/** Converts the jobs of a called workflow, once for each combination that gives it other inputs. */
function convertCalls(
  conversion: Conversion,
  placed: PlacedWorkflow,
  { id, job, path, called, combinations }: CallingJob,
): StarterJob[] {
  const { event, surroundings } = conversion;
  const where = `${placed.where}, job ${id}`;
  const distinct = new Map<string, { combination: Combination; inputs: CallInputs }>();
  const reasons = new Set<string>();
  for (const combination of combinations) {
    const context = contextOf({ event, surroundings, inputs: placed.inputs, combination }, {});
    try {
      if (job.if !== undefined && !conditionHolds(job.if, context)) continue;
      const inputs = inputsOfCall(called, job.with ?? {}, context);
      const key = JSON.stringify([...inputs]);
      if (!distinct.has(key)) distinct.set(key, { combination, inputs });
    } catch (reason) {
      reasons.add(`${job.uses}: ${messageOf(reason)}`);
    }
  }
  if (distinct.size === 0 && reasons.size === 0)
    reasons.add(`its condition does not hold for a commit: ${job.if?.trim().slice(0, 100)}`);
  for (const reason of reasons) conversion.leftOut.push({ where, reason });
  const all = [...distinct.values()];
  const labels = labelsOf(all.map(({ combination }) => combination));
  return all.flatMap(({ inputs }, index) =>
    convertJobs(conversion, {
      workflow: called,
      where: `${where}, ${baseName(path)}`,
      prefix: `${placed.prefix}/${id}${labels[index]}`,
      inputs,
      chain: placed.chain.concat(path),
    }).flatMap(({ jobs }) => jobs),
  );
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
  const labels = labelsOf(all.map(({ combination }) => combination));
  const variants = all.map(({ converted }, index) => ({ converted, label: labels[index] ?? "" }));
  return { variants, reasons: [...reasons] };
}

/** Returns a label for each combination, of the values in which they differ. */
function labelsOf(combinations: readonly Combination[]): string[] {
  const differing = [...new Set(combinations.flatMap((each) => [...each.keys()]))].filter(
    (name) => new Set(combinations.map((each) => each.get(name))).size > 1,
  );
  return combinations.map((each) =>
    combinations.length === 1 ? "" : differing.map((name) => labelOf(each.get(name))).join(""),
  );
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

/**
 * Makes jobs wait for all jobs that the needed ones became; those that were not converted are not waited for. In a
 * called workflow, jobs that need another one of it wait through that one.
 */
function resolveNeeds({ needs, jobs }: Entry, entries: readonly Entry[]): StarterJob[] {
  const names = needs.flatMap(
    (id) => entries.find((each) => each.id === id)?.jobs.map(({ name }) => name) ?? [],
  );
  return jobs.map((job) => ((job.needs ?? []).length > 0 ? job : { ...job, needs: names }));
}
