import type { SwitchValues } from "#api/graph-choice.ts";
import { turns } from "#scheduling/turns.ts";
import { type ChosenValues, chooseValues, type Requests } from "./choose-values.ts";
import type { DefinitionContext } from "./definition-context.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type DefinitionOrigin, problemNowhere } from "./definition-origin.ts";
import { type DefinitionProblem, DefinitionProblems, throwIfAny } from "./definition-problems.ts";
import { type ExpressionContext, type FilledJob, fillJobs } from "./fill-jobs.ts";
import type { JobDefinition } from "./job-definition.ts";
import type { NamedGraph } from "./named-graph.ts";
import { definedTwice } from "./read-templates.ts";
import type { TemplateEvaluator } from "./template-evaluator.ts";
import type { Templates } from "./templates.ts";

/** A job with its placeholders filled, and its place in the source. */
export interface DefinedJob {
  readonly name: string;
  readonly definition: JobDefinition;
  /** False when its `when` is false: the job is defined but not part of this graph. */
  readonly wanted: boolean;
  /** Returns a problem with the part at `path` of this job, with its place. */
  problemAt(path: readonly PropertyKey[], message: string, of?: "key" | "value"): DefinitionProblem;
}

/** Definitions with every placeholder filled. */
export interface Definitions {
  readonly jobs: readonly DefinedJob[];
  /** Every declared parameter and switch with the value it has here. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly switches: SwitchValues;
  /** The graph that was requested by name. */
  readonly graph: NamedGraph | undefined;
}

/** Fills the placeholders of definitions and checks the result; throws `DefinitionProblems`. */
export async function fillTemplates(
  templates: Templates,
  wanted: Requests,
  context: DefinitionContext,
  evaluator: TemplateEvaluator,
): Promise<Definitions> {
  const problems: DefinitionProblem[] = [];
  const chosen = chooseValues(templates, wanted, problems);
  throwIfAny(problems);

  const jobs = await fillJobs(templates, contextFor(context, chosen), evaluator, problems);
  if (jobs.length > definitionLimits.definitions) throw tooManyJobs();
  const defined = await readJobs(jobs, problems);
  throwIfAny(problems);
  throwIfAny(defined.flatMap((job) => problemsOfNamedGraph(job, templates, chosen)));
  return { jobs: defined, ...chosen };
}

/** Returns the problems of the graph that a job names, and of the values that it passes. */
function problemsOfNamedGraph(
  job: DefinedJob,
  templates: Templates,
  parent: ChosenValues,
): DefinitionProblem[] {
  const { name, definition } = job;
  if (definition.graph === undefined || !job.wanted) return [];
  const problems: DefinitionProblem[] = [];
  chooseValues(templates, wantedOfChild(definition, parent), problems);
  return problems.map(({ message }) => job.problemAt(["graph"], `job "${name}": ${message}`));
}

/** Returns a job's requests for the graph that it names; values that it does not pass come from its own graph. */
export function wantedOfChild(
  { graph, parameters = {}, switches = {} }: JobDefinition,
  parent: Pick<ChosenValues, "parameters" | "switches">,
): Requests {
  return { graph, parameters, switches, branch: parent };
}

/** Returns the values that expressions can use. */
function contextFor(
  { commit, ...rest }: DefinitionContext,
  { parameters, switches }: ChosenValues,
): ExpressionContext {
  return {
    ...rest,
    parameters,
    switches,
    commit: { sha: commit.sha, subject: commit.subject, author: commit.author },
    // Without this value, templates would use the wall clock, and two plans of a commit would
    // differ.
    now: commit.committedAt.toISOString(),
  };
}

async function readJobs(
  jobs: readonly FilledJob[],
  problems: DefinitionProblem[],
): Promise<DefinedJob[]> {
  const turn = turns();
  const defined = new Map<string, DefinedJob>();
  const origins = new Map<string, DefinitionOrigin>();
  for (const { name, origin, parsed } of jobs) {
    const waiting = turn();
    if (waiting !== undefined) await waiting;
    const problemAt: DefinedJob["problemAt"] = (path, message, of = "value") =>
      origin.problem({ path: ["jobs", name, ...path], of, message });
    const first = origins.get(name);
    if (first === undefined) origins.set(name, origin);
    else problems.push(definedTwice(name, first, origin));
    if ("findings" in parsed) {
      for (const { path, of, message } of parsed.findings)
        problems.push(problemAt(path, message, of));
    } else if (first === undefined) {
      defined.set(name, { name, ...parsed, problemAt });
    }
  }
  return [...defined.values()];
}

function tooManyJobs(): DefinitionProblems {
  const message = "the definitions result in more than 50,000 jobs, which is the limit";
  return new DefinitionProblems([problemNowhere(message)]);
}
