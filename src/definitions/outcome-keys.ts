import { z } from "zod";
import { RunOutcome } from "#api/graph.ts";
import { messageOf } from "#core/fault.ts";
import { compilePattern } from "#core/line-patterns/compiled-pattern.ts";
import {
  classedOutcomes,
  compileRules,
  FailureClassName,
  LinePattern,
  mostClasses,
  mostNumbers,
  mostPatterns,
  NumberName,
  OutcomeRules,
} from "#core/outcome-rules.ts";
import { oneOrMany } from "./one-or-many.ts";
import { rulesOf } from "./outcome-rules-of-job.ts";

const Patterns = oneOrMany(LinePattern, "a pattern").refine(
  (patterns) => patterns.length <= mostPatterns,
  `at most ${mostPatterns} patterns`,
);

const ExitCodes = z.array(z.number().int().min(0).max(255)).min(1, "name at least one exit code");

/** A number that is read from the log. */
const NumberRule = z.strictObject({
  pattern: LinePattern.refine(hasGroup, "needs a group ( ) around the number").describe(
    "Its first group contains the number. The last matching line counts.",
  ),
  min: z.number().optional().describe("With a smaller number, the job fails."),
  max: z.number().optional().describe("With a larger number, the job fails."),
  optional: z.boolean().optional().describe("The job also succeeds if the log has no such number."),
});

/** The conditions of a success, besides the exit code. */
export const Success = z
  .strictObject({
    "exit-codes": ExitCodes.optional().describe("Exit codes that count as success. Default: [0]."),
    patterns: Patterns.optional().describe("Each must match a line of the log."),
    numbers: z
      .record(NumberName, NumberRule)
      .refine(
        (numbers) => Object.keys(numbers).length <= mostNumbers,
        `at most ${mostNumbers} numbers`,
      )
      .optional()
      .describe("Numbers in the log, and their limits."),
  })
  .describe("The conditions for success.");

const ownNames: ReadonlySet<string> = new Set(["success", "failure", "end", ...RunOutcome.options]);

const FailureClass = z.strictObject({
  patterns: Patterns.optional().describe("A failure whose log has such a line is in this class."),
  "exit-codes": ExitCodes.optional().describe(
    "A failure with such an exit code is also in this class.",
  ),
  outcomes: z
    .array(z.enum(classedOutcomes, { error: `must be ${classedOutcomes.join(" or ")}` }))
    .optional()
    .describe("A run with such an outcome is also in this class."),
  fails: z
    .boolean()
    .optional()
    .describe("Such a line makes the job fail with any exit code. Default: false."),
  retry: z
    .boolean()
    .optional()
    .describe(
      "Whether failures of this class are retried, within `retries`. If any class has true, only failures of such classes are retried.",
    ),
});

/** Names for failures, and the patterns that identify them. */
export const Failure = z
  .record(
    FailureClassName.refine(
      (name) => !ownNames.has(name),
      "success, failure, end and the outcomes of runs cannot be names of classes",
    ),
    FailureClass,
  )
  .refine((classes) => Object.keys(classes).length <= mostClasses, `at most ${mostClasses} classes`)
  .describe("Failure classes: how to recognise them, and whether to retry.");

export const Errors = Patterns.describe(
  "Lines of the log that are errors; the page of the run shows the first 50.",
);

/** The part of a job that decides the outcome of its runs. */
export interface OutcomeKeys {
  readonly success?: z.output<typeof Success> | undefined;
  readonly failure?: z.output<typeof Failure> | undefined;
  readonly errors?: z.output<typeof Errors> | undefined;
  readonly retries?: number | undefined;
}

interface KeyProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Returns problems that concern several keys: rules that contradict each other or have no effect. */
export function problemsOfOutcomeKeys(job: OutcomeKeys): KeyProblem[] {
  if (job.success === undefined && job.failure === undefined && job.errors === undefined) return [];
  const good = job.success?.["exit-codes"] ?? [0];
  const ofNumbers = Object.entries(job.success?.numbers ?? {}).flatMap(([name, { min, max }]) =>
    min !== undefined && max !== undefined && min > max
      ? [
          {
            path: ["success", "numbers", name],
            message: `no number is at least ${min} and at most ${max}`,
          },
        ]
      : [],
  );
  const ofClasses = Object.entries(job.failure ?? {}).flatMap(([name, known]): KeyProblem[] => {
    const path = ["failure", name];
    const { patterns = [], "exit-codes": codes = [], outcomes = [] } = known;
    const both = codes.find((code) => good.includes(code));
    return [
      ...(patterns.length + codes.length + outcomes.length === 0
        ? [{ path, message: "a class needs patterns, exit-codes or outcomes" }]
        : []),
      ...(both === undefined
        ? []
        : [{ path: [...path, "exit-codes"], message: `exit code ${both} counts as success` }]),
      ...(known.fails === true && patterns.length === 0
        ? [
            {
              path: [...path, "fails"],
              message: "only patterns can make a job fail that exited with success",
            },
          ]
        : []),
      ...(known.retry === true && (job.retries ?? 0) === 0
        ? [
            {
              path: [...path, "retry"],
              message: 'nothing is retried without "retries": set the number',
            },
          ]
        : []),
    ];
  });
  return [...ofNumbers, ...ofClasses, ...problemsTogether(job)];
}

function problemsTogether(job: OutcomeKeys): KeyProblem[] {
  const rules = rulesOf(job);
  // An invalid pattern is already reported, at its place.
  if (!OutcomeRules.safeParse(rules).success) return [];
  try {
    compileRules(rules);
    return [];
  } catch (reason) {
    return [{ path: [], message: messageOf(reason) }];
  }
}

function hasGroup(pattern: string): boolean {
  try {
    return compilePattern(pattern).groups > 0;
  } catch {
    // Its other problems are already reported.
    return true;
  }
}
