import { messageOf } from "#core/fault.ts";
import type { NeededTool, StarterJob } from "../starter-job.ts";
import type { CallInputs } from "./called-workflow.ts";
import {
  type Containers,
  convertContainers,
  noteInImage,
  notesOfContainers,
} from "./convert-containers.ts";
import { expandActions, type PlacedStep } from "./expand-actions.ts";
import {
  conditionHolds,
  type ExpressionContext,
  type ExpressionValue,
  fillExpressions,
} from "./expression.ts";
import { knownAction } from "./known-actions.ts";
import type { Combination } from "./matrix.ts";
import { namesHandedOn, stepCommands } from "./step-commands.ts";
import type { Step, Workflow, WorkflowJob } from "./workflow-file.ts";
import type { WorkflowNote } from "./workflow-notes.ts";

/** A part of a job, or a whole job, that was left out: its place, and the reason. */
export interface LeftOut {
  readonly where: string;
  readonly reason: string;
}

export type ConvertedJob =
  | {
      readonly kind: "job";
      /** Without its name and needs. */
      readonly job: Omit<StarterJob, "name" | "needs">;
      readonly tools: readonly NeededTool[];
      readonly notes: readonly WorkflowNote[];
      readonly leftOut: readonly LeftOut[];
    }
  /** The workflow would not run this job here. */
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "impossible"; readonly reason: string };

/** What the repository of a workflow has besides it. */
export interface Surroundings {
  /** The texts of the actions in the repository, by their path: `.github/actions/setup/action.yml`. */
  readonly actions: ReadonlyMap<string, string>;
  /** Its name on GitHub, `owner/name`, if the address of its remote `origin` names it. */
  readonly repository?: string | undefined;
}

interface JobInWorkflow {
  readonly workflow: Workflow;
  readonly surroundings: Surroundings;
  readonly event: string;
  /** Those of a called workflow. */
  readonly inputs: CallInputs;
  readonly job: WorkflowJob;
  readonly combination: Combination;
}

/** Converts one job of a workflow, with the values of its matrix, into a job of Grange. */
export function convertJob(given: JobInWorkflow): ConvertedJob {
  const { workflow, job } = given;
  if (job.uses !== undefined) return impossible(`it calls the reusable workflow ${job.uses}`);
  const bare = contextOf(given, {});
  try {
    if (job.if !== undefined && !conditionHolds(job.if, bare)) {
      const reason = `its condition does not hold for a commit: ${job.if.trim().slice(0, 100)}`;
      return { kind: "skipped", reason };
    }
    const labels = runsOn(job["runs-on"], bare);
    const foreign = labels.find((label) => /^(windows|macos)/i.test(label));
    if (foreign !== undefined)
      return { kind: "skipped", reason: `it runs on ${foreign}, and jobs run on Linux` };
    if (labels.includes("self-hosted"))
      return impossible("it runs on machines of its own (self-hosted)");
  } catch (reason) {
    return impossible(messageOf(reason));
  }
  if (typeof job.env === "string") return impossible("its variables are computed");
  const { environment, leftOut } = jobEnvironment({ ...workflow.env, ...job.env }, bare);
  let containers: Containers;
  try {
    containers = convertContainers(job, contextOf(given, environment));
  } catch (reason) {
    return impossible(messageOf(reason));
  }
  const all = { ...containers.environment, ...environment };
  const context = new Map([...contextOf(given, all), ...containers.values]);
  return convertSteps(given, context, all, leftOut.concat(containers.leftOut), containers);
}

function convertSteps(
  { workflow, job, surroundings }: JobInWorkflow,
  context: ExpressionContext,
  environment: Readonly<Record<string, string>>,
  leftOutBefore: readonly LeftOut[],
  containers: Containers,
): ConvertedJob {
  const commands: string[] = [];
  const tools: NeededTool[] = [];
  const notes: WorkflowNote[] = notesOfContainers(containers);
  const leftOut: LeftOut[] = [...leftOutBefore];
  const isInImage = containers.image !== undefined;
  // GitHub runs steps in containers with sh, because an image may have no bash.
  const usualShell = isInImage ? "sh" : "bash";
  const defaults = { ...workflow.defaults?.run, ...job.defaults?.run };
  const steps = withoutHandedOn(expandActions(job.steps, context, surroundings.actions));
  const lastRun = steps.findLastIndex(({ step }) => step.run !== undefined);
  let ran = 0;
  for (const [index, placed] of steps.entries()) {
    const { step, where, problem } = placed;
    const outcome: StepOutcome =
      problem === undefined
        ? convertStep(step, placed.context, placed.isOfAction ? {} : defaults, usualShell)
        : { kind: "impossible", reason: problem };
    const { image } = containers;
    notes.push(
      ...(outcome.notes ?? []).map((note) =>
        image === undefined ? note : noteInImage(note, image),
      ),
    );
    if (outcome.kind === "commands") {
      commands.push(...outcome.commands);
      if (outcome.tool !== undefined && !isInImage) tools.push(outcome.tool);
      if (step.run !== undefined && outcome.commands.length > 0) ran++;
    } else if (outcome.kind === "optional") {
      leftOut.push({ where, reason: outcome.reason });
    } else if (index > lastRun || (index === lastRun && ran > 0)) {
      leftOut.push({ where, reason: outcome.reason });
    } else {
      return impossible(`${where}: ${outcome.reason}`);
    }
  }
  if (ran === 0) return impossible("no step of it runs a command that could be kept");
  const all = [...preludeOf(commands), ...commands];
  const minutes = Number(job["timeout-minutes"]);
  return {
    kind: "job",
    job: {
      commands: all,
      environment: { CI: "true", ...environment },
      network: true,
      ...(containers.image === undefined ? {} : { image: containers.image }),
      ...(containers.services === undefined ? {} : { services: containers.services }),
      ...(Number.isInteger(minutes) && minutes > 0 && minutes <= 1_440
        ? { timeout: `${minutes}m` }
        : {}),
    },
    tools,
    notes,
    leftOut,
  };
}

/** Variables that a step hands to later steps have no known value in expressions. */
function withoutHandedOn(steps: readonly PlacedStep[]): PlacedStep[] {
  const names = new Set(
    steps.flatMap(({ step }) => namesHandedOn(step.run ?? "").map((name) => `env.${name}`)),
  );
  if (names.size === 0) return [...steps];
  return steps.map((placed) => ({
    ...placed,
    context: new Map([...placed.context].filter(([name]) => !names.has(name))),
  }));
}

type StepOutcome = { readonly notes?: readonly WorkflowNote[] } & (
  | {
      readonly kind: "commands";
      readonly commands: readonly string[];
      readonly tool?: NeededTool | undefined;
    }
  /** The job does not need it for its work. */
  | { readonly kind: "optional"; readonly reason: string }
  | { readonly kind: "impossible"; readonly reason: string }
);

function convertStep(
  step: Step,
  context: ExpressionContext,
  defaults: {
    readonly shell?: string | undefined;
    readonly "working-directory"?: string | undefined;
  },
  usualShell: "bash" | "sh",
): StepOutcome {
  try {
    if (step.if !== undefined && !conditionHolds(step.if, context))
      return { kind: "commands", commands: [] };
    const environment = fillAll(step.env ?? {}, context);
    if (step.uses !== undefined) return convertAction(step.uses, step.with ?? {}, context);
    if (step.run === undefined) return { kind: "commands", commands: [] };
    const directory = step["working-directory"] ?? defaults["working-directory"];
    const shell = step.shell ?? defaults.shell;
    return stepCommands({
      text: fillExpressions(step.run, context),
      shell: shell === undefined ? undefined : fillExpressions(shell, context),
      usualShell,
      workingDirectory: directory === undefined ? undefined : fillExpressions(directory, context),
      environment,
      mayFail: step["continue-on-error"] === "true",
    });
  } catch (reason) {
    return { kind: "impossible", reason: messageOf(reason) };
  }
}

function convertAction(
  uses: string,
  written: Readonly<Record<string, string>>,
  context: ExpressionContext,
): StepOutcome {
  const inputs = fillWhatIsKnown(written, context);
  const action = knownAction(uses, inputs);
  if (action === undefined) {
    const isHere = uses.startsWith("./") || uses.startsWith("$/");
    const reason = isHere
      ? `${uses} is not in this repository: it has no action.yml there`
      : `${uses} is not known; put its commands in its place`;
    return { kind: "impossible", reason };
  }
  if (uses.startsWith("actions/checkout")) {
    const repository = inputs["repository"] ?? "";
    if (repository !== "" && repository !== context.get("github.repository"))
      return {
        kind: "impossible",
        reason: `it checks out ${repository}; name it in the job's \`sources\``,
      };
    if (inputs["path"] !== undefined && inputs["path"] !== ".")
      return { kind: "impossible", reason: "it checks out into a directory of its own" };
  }
  switch (action.kind) {
    case "done":
      return { kind: "commands", commands: [] };
    case "setup":
      return {
        kind: "commands",
        commands: action.commands ?? [],
        tool: action.tool,
        notes: [action.note],
      };
    case "optional":
      return { kind: "optional", reason: `${uses}: ${action.note}` };
  }
}

/** Returns the commands before all others, for the tools that GitHub's machines have and a job lacks. */
function preludeOf(commands: readonly string[]): string[] {
  const text = commands.join("\n");
  const prelude: string[] = [];
  const paths: string[] = [];
  if (/GITHUB_WORKSPACE/.test(text)) prelude.push('export GITHUB_WORKSPACE="$PWD"');
  if (/GITHUB_(ENV|PATH)\b/.test(text)) {
    prelude.push(
      'export GITHUB_ENV="$TMPDIR/github-env" GITHUB_PATH="$TMPDIR/github-path"',
      ': > "$GITHUB_ENV"; : > "$GITHUB_PATH"',
    );
  }
  if (/GITHUB_(STEP_SUMMARY|OUTPUT)/.test(text)) {
    prelude.push('export GITHUB_STEP_SUMMARY="$TMPDIR/summary" GITHUB_OUTPUT="$TMPDIR/output"');
  }
  if (/\bgit (diff|status|ls-files|add|grep|rev-parse|apply|stash)\b/.test(text)) {
    prelude.push(
      "git init --quiet && git add --all && git -c user.name=farm -c user.email=farm@localhost commit --quiet --message start",
    );
  }
  if (/\bpip3? install\b|\bpython\b/.test(text)) {
    prelude.push('python3 -m venv "$TMPDIR/venv"');
    paths.push("$TMPDIR/venv/bin");
  }
  if (/\bnpm (i|install|add) .*(-g\b|--global\b)/.test(text) && !text.includes("--prefix")) {
    prelude.push('export npm_config_prefix="$PWD/.grange-tools"');
    paths.push("$PWD/.grange-tools/bin");
  }
  if (/corepack enable/.test(text)) {
    prelude.push("mkdir -p .grange-tools/bin");
    paths.push("$PWD/.grange-tools/bin");
  }
  if (/\bcargo install\b/.test(text)) paths.push("$HOME/.cargo/bin");
  if (/\bgo install\b/.test(text)) paths.push("$HOME/go/bin");
  const unique = [...new Set(paths)];
  return unique.length === 0 ? prelude : [...prelude, `export PATH="${unique.join(":")}:$PATH"`];
}

/** Returns the values that expressions of a job may name. */
export function contextOf(
  {
    event,
    combination,
    inputs,
    surroundings: { repository },
  }: Pick<JobInWorkflow, "event" | "combination" | "inputs" | "surroundings">,
  environment: Readonly<Record<string, string>>,
): ExpressionContext {
  return new Map<string, ExpressionValue>([
    ["github.event_name", event],
    ["github.workspace", "$GITHUB_WORKSPACE"],
    ...(repository === undefined
      ? []
      : ([
          ["github.repository", repository],
          ["github.repository_owner", repository.split("/")[0] ?? ""],
        ] as const)),
    ...inputs,
    ["runner.os", "Linux"],
    ["runner.arch", "X64"],
    ...[...combination].map(([name, value]) => [`matrix.${name}`, value] as const),
    ...Object.entries(environment).map(([name, value]) => [`env.${name}`, value] as const),
  ]);
}

/** Variables with values that only GitHub knows, such as a token, are left out. */
function jobEnvironment(
  written: Readonly<Record<string, string>>,
  context: ExpressionContext,
): { environment: Record<string, string>; leftOut: LeftOut[] } {
  const environment: Record<string, string> = {};
  const leftOut: LeftOut[] = [];
  for (const [name, value] of Object.entries(written)) {
    try {
      environment[name] = fillExpressions(value, context);
    } catch (reason) {
      leftOut.push({ where: `the variable ${name}`, reason: messageOf(reason) });
    }
  }
  return { environment, leftOut };
}

function fillAll(
  written: Readonly<Record<string, string>>,
  context: ExpressionContext,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(written).map(([name, value]) => [name, fillExpressions(value, context)]),
  );
}

function fillWhatIsKnown(
  written: Readonly<Record<string, string>>,
  context: ExpressionContext,
): Record<string, string> {
  return jobEnvironment(written, context).environment;
}

function runsOn(written: unknown, context: ExpressionContext): string[] {
  if (typeof written === "string") return [fillExpressions(written, context)];
  if (Array.isArray(written))
    return written.map((label) => fillExpressions(String(label), context));
  return [];
}

function impossible(reason: string): ConvertedJob {
  return { kind: "impossible", reason };
}
