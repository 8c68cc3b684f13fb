import type { SwitchValues } from "#api/graph-choice.ts";
import { mapInTurns } from "#scheduling/turns.ts";
import { definitionLimits } from "./definition-limits.ts";
import { type DefinitionOrigin, problemNowhere } from "./definition-origin.ts";
import type { DefinitionProblem } from "./definition-problems.ts";
import { fillJob } from "./fill-job.ts";
import { shapeOf } from "./job-shape.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { templateAdvice } from "./template-advice.ts";
import type { TemplateEvaluator } from "./template-evaluator.ts";
import type { JobsTemplate, JobTemplate, Templates } from "./templates.ts";

/** The values that expressions can use. Plain JSON. */
export type ExpressionContext = Readonly<Record<string, unknown>> & {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly switches: SwitchValues;
};

export interface FilledJob {
  readonly name: string;
  readonly origin: DefinitionOrigin;
  readonly parsed: ParsedJob;
}

/**
 * Fills placeholders that only look up names, and sends the rest to the evaluator.
 *
 * Each distinct condition of `when` is evaluated once, because thousands of jobs share a few.
 */
export async function fillJobs(
  templates: Templates,
  context: ExpressionContext,
  evaluator: TemplateEvaluator,
  problems: DefinitionProblem[],
): Promise<FilledJob[]> {
  const shaped = await mapInTurns(templates.jobs, (template) => ({
    template,
    shape: shapeOf(template),
  }));
  const conditions = new Set(
    shaped.flatMap(({ shape }) => (shape.kind === "texts" ? (shape.when ?? []) : [])),
  );
  const isWanted = await conditionsIn(conditions, context, evaluator);

  const filled: FilledJob[] = [];
  const left: JobTemplate[] = [];
  let length = 0;
  for (const { template, shape } of shaped) {
    const { name, job, origin } = template;
    switch (shape.kind) {
      case "plain":
        filled.push({ name, origin, parsed: shape.parsed });
        break;
      case "construct":
        left.push(template);
        break;
      case "texts": {
        const wanted = shape.when === undefined ? true : isWanted.get(shape.when);
        const done = wanted === undefined ? undefined : fillJob(name, job, shape, context, wanted);
        if (done === undefined) left.push(template);
        else filled.push({ name, origin, parsed: done.parsed });
        length += done?.length ?? 0;
        break;
      }
    }
  }
  if (length > definitionLimits.renderedBytes)
    problems.push(problemNowhere("the jobs become too large when their templates are filled"));
  const rest = { jobs: left, expressions: templates.expressions };
  return [...filled, ...(await evaluated(rest, context, evaluator, problems))];
}

/** Returns which conditions are true. A condition that cannot be evaluated is absent: its jobs report the problem. */
async function conditionsIn(
  conditions: ReadonlySet<string>,
  context: ExpressionContext,
  evaluator: TemplateEvaluator,
): Promise<Map<string, boolean>> {
  if (conditions.size === 0) return new Map();
  const texts = [...conditions];
  const jobs = Object.fromEntries(texts.map((when, i) => [`c${i}`, { when }]));
  const answer = await evaluator.evaluate({ files: [{ file: "", jobs }], context });
  return new Map(
    answer.jobs.flatMap(({ name, job }) => {
      const text = texts[Number(name.slice(1))];
      const holds = typeof job === "object" && job !== null && "when" in job && job.when === true;
      return text === undefined ? [] : [[text, holds]];
    }),
  );
}

/** Returns the evaluator's results for jobs and expressions, which are identified by number. */
async function evaluated(
  rest: { readonly jobs: readonly JobTemplate[]; readonly expressions: readonly JobsTemplate[] },
  context: ExpressionContext,
  evaluator: TemplateEvaluator,
  problems: DefinitionProblem[],
): Promise<FilledJob[]> {
  const origins: DefinitionOrigin[] = [];
  const files: { file: string; jobs: unknown }[] = [];
  const ask = (origin: DefinitionOrigin, jobs: unknown) => {
    files.push({ file: String(origins.length), jobs });
    origins.push(origin);
  };
  const byOrigin = new Map<DefinitionOrigin, [string, unknown][]>();
  for (const { name, job, origin } of rest.jobs) {
    const siblings = byOrigin.get(origin) ?? [];
    byOrigin.set(origin, siblings);
    siblings.push([name, job]);
  }
  for (const [origin, jobs] of byOrigin) ask(origin, Object.fromEntries(jobs));
  for (const { origin, jobs } of rest.expressions) ask(origin, jobs);
  if (files.length === 0) return [];

  const answer = await evaluator.evaluate({ files, context });
  const names = {
    parameters: Object.keys(context.parameters),
    switches: Object.keys(context.switches),
  };
  for (const { file, path, message } of answer.problems) {
    const advice = templateAdvice(message, names);
    const origin = origins[Number(file)];
    problems.push(
      origin?.problem({ path, of: "value", message: advice }) ?? problemNowhere(advice),
    );
  }
  return answer.jobs.flatMap(({ file, name, job }) => {
    const origin = origins[Number(file)];
    return origin === undefined ? [] : [{ name, origin, parsed: parseJob(name, job) }];
  });
}
