import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import {
  conditionHolds,
  type ExpressionContext,
  type ExpressionValue,
  fillExpressions,
} from "./expression.ts";
import { readYaml, Scalar, Step } from "./workflow-file.ts";

/** GitHub's own limit for actions in actions. */
const mostLevels = 10;
/** More steps would not be a useful start, and actions that name each other could give any number of them. */
const mostSteps = 500;

const Action = z.object({
  inputs: z
    .record(z.string(), z.object({ default: Scalar.optional() }).nullable())
    .nullish()
    .transform((inputs) => inputs ?? {}),
  runs: z.object({ using: z.string(), steps: z.array(Step).max(mostSteps).default([]) }),
});
type Action = z.output<typeof Action>;

/** A step of a job, or of an action of this repository that the job calls. */
export interface PlacedStep {
  readonly step: Step;
  /** Its place, for people: `step 2, ./.github/actions/setup, step 1 (Install)`. */
  readonly where: string;
  readonly context: ExpressionContext;
  /** Whether it is a step of an action, for which the defaults of the workflow do not hold. */
  readonly isOfAction: boolean;
  /** The reason why the step cannot be converted, if that is known before the step is read. */
  readonly problem?: string;
}

/**
 * Replaces steps that call composite actions of this repository by the steps of those actions.
 *
 * `actions` has the texts of action.yml files by their path in the repository.
 */
export function expandActions(
  steps: readonly Step[],
  context: ExpressionContext,
  actions: ReadonlyMap<string, string>,
): PlacedStep[] {
  let count = 0;
  const read = new Map<string, ReadAction>();
  const actionAt = (path: string): ReadAction | undefined => {
    const text = textAt(actions, path);
    if (text === undefined) return undefined;
    const action = read.get(path) ?? readAction(text);
    read.set(path, action);
    return action;
  };
  const expand = (
    list: readonly Step[],
    within: string,
    known: ExpressionContext,
    level: number,
  ): PlacedStep[] =>
    list.flatMap((step, index): PlacedStep[] => {
      const name = step.name === undefined ? "" : ` (${step.name.slice(0, 60)})`;
      const where = `${within}step ${index + 1}${name}`;
      const placed = { step, where, context: known, isOfAction: level > 0 };
      const path = pathOfAction(step.uses);
      const called = path === undefined ? undefined : actionAt(path);
      const impossible = (problem: string): PlacedStep[] => [{ ...placed, problem }];
      if (level > 0 && ++count > mostSteps)
        throw new Fault("out_of_range", `its actions have more than ${mostSteps} steps`);
      if (path === undefined || called === undefined) return [placed];
      if (level === mostLevels)
        return impossible(`${step.uses} calls more than ${mostLevels} actions`);
      if ("problem" in called) return impossible(`${step.uses} ${called.problem}`);
      try {
        if (step.if !== undefined && !conditionHolds(step.if, known)) return [];
        const inner = new Map<string, ExpressionValue>([
          ...withoutInputs(known),
          ["github.action_path", `$GITHUB_WORKSPACE/${path}`],
          ...inputsFor(called.action, step, known),
        ]);
        const inherited = called.action.runs.steps.map((each) => inheriting(each, step, known));
        return expand(inherited, `${where}, ${step.uses}, `, inner, level + 1);
      } catch (reason) {
        return impossible(messageOf(reason));
      }
    });
  return expand(steps, "", context, 0);
}

/** Returns the directory of an action of this repository: of `./a/b` and `$/a/b`, both relative to its top. */
function pathOfAction(uses: string | undefined): string | undefined {
  if (uses === undefined || !/^[.$]\//.test(uses)) return undefined;
  return uses.slice(2, uses.endsWith("/") && uses.length > 2 ? -1 : undefined);
}

function textAt(actions: ReadonlyMap<string, string>, path: string): string | undefined {
  const prefix = path === "" ? "" : `${path}/`;
  return actions.get(`${prefix}action.yml`) ?? actions.get(`${prefix}action.yaml`);
}

type ReadAction = { readonly action: Action } | { readonly problem: string };

function readAction(text: string): ReadAction {
  const read = readYaml(text, Action);
  if ("problem" in read) return read;
  if (read.value.runs.using !== "composite")
    return { problem: "is a program, not a list of steps; put its commands in its place" };
  return { action: read.value };
}

/** Inputs of the action that calls are not visible in the action that is called. */
function withoutInputs(context: ExpressionContext): [string, ExpressionValue][] {
  return [...context].filter(([name]) => !name.startsWith("inputs."));
}

function inputsFor(action: Action, step: Step, context: ExpressionContext): [string, string][] {
  const names = new Set([...Object.keys(action.inputs), ...Object.keys(step.with ?? {})]);
  return [...names].map((name) => {
    const given = step.with?.[name];
    const value =
      given === undefined ? (action.inputs[name]?.default ?? "") : fillExpressions(given, context);
    return [`inputs.${name}`, value];
  });
}

/** The variables of the calling step hold in the steps of the action, and so does its permission to fail. */
function inheriting(step: Step, caller: Step, context: ExpressionContext): Step {
  const environment = Object.fromEntries(
    Object.entries(caller.env ?? {}).map(([name, value]) => [
      name,
      fillExpressions(value, context),
    ]),
  );
  return {
    ...step,
    env: { ...environment, ...step.env },
    "continue-on-error": caller["continue-on-error"] ?? step["continue-on-error"],
  };
}
