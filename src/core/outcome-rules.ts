import { z } from "zod";
import { Fault, messageOf } from "./fault.ts";
import { type CompiledPattern, compilePattern } from "./line-patterns/compiled-pattern.ts";

/** A pattern over one line of a log; `line-patterns/compiled-pattern.ts` describes its syntax. */
export const LinePattern = z.string().superRefine((pattern, context) => {
  try {
    compilePattern(pattern);
  } catch (reason) {
    context.addIssue({ code: "custom", message: messageOf(reason) });
  }
});

export const mostPatterns = 50;
export const mostNumbers = 50;
export const mostClasses = 32;
const mostShown = 10_000;

/** Outcomes of a run, besides its exit code, that may put it into a failure class. */
export const classedOutcomes = ["timed_out", "out_of_memory"] as const;

const Patterns = z.array(LinePattern).max(mostPatterns);
export const NumberName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
    "a number's name has letters, digits, . _ and - only, and begins with a letter",
  );

/** The name of a class of failures. */
export const FailureClassName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    "a class of failures has lower-case letters, digits, _ and - only, and begins with a letter",
  );

const NumberRule = z.strictObject({
  pattern: LinePattern,
  min: z.number().optional(),
  max: z.number().optional(),
  optional: z.boolean().optional(),
});
export type NumberRule = z.infer<typeof NumberRule>;

const FailureRule = z.strictObject({
  patterns: Patterns.optional(),
  exitCodes: z.array(z.number().int()).max(256).optional(),
  outcomes: z.array(z.enum(classedOutcomes)).optional(),
  /** A match in the log fails the run, regardless of its exit code. */
  fails: z.boolean().optional(),
});
export type FailureRule = z.infer<typeof FailureRule>;

/** The rules that decide, besides the exit code, the outcome of a run, and which lines of its log are kept. */
export const OutcomeRules = z.strictObject({
  success: Patterns.optional(),
  numbers: z.record(NumberName, NumberRule).optional(),
  failures: z.record(FailureClassName, FailureRule).optional(),
  errors: Patterns.optional(),
  /** Lines in which the script echoes its commands and that match a pattern: they are not evidence. */
  shown: z.array(z.string()).max(mostShown).optional(),
});
export type OutcomeRules = z.infer<typeof OutcomeRules>;

/** The meaning of a line that matches a pattern. */
type PatternRole =
  | { readonly kind: "success"; readonly pattern: string }
  | { readonly kind: "number"; readonly name: string }
  | { readonly kind: "failure"; readonly name: string }
  | { readonly kind: "error" };

export interface RulePattern {
  readonly role: PatternRole;
  readonly compiled: CompiledPattern;
}

/**
 * The limit for all patterns together: in the worst case, with a crafted line, a character of a log costs this many
 * steps.
 */
const mostStepsTogether = 2_000;

/** Throws `invalid_argument` for a pattern that cannot be used, or when all patterns together exceed the limit. */
export function compileRules(rules: OutcomeRules): RulePattern[] {
  const written = [
    ...(rules.success ?? []).map(
      (pattern) => [pattern, { kind: "success", pattern }] as const satisfies [string, PatternRole],
    ),
    ...Object.entries(rules.numbers ?? {}).map(
      ([name, { pattern }]) =>
        [pattern, { kind: "number", name }] as const satisfies [string, PatternRole],
    ),
    ...Object.entries(rules.failures ?? {}).flatMap(([name, { patterns = [] }]) =>
      patterns.map(
        (pattern) => [pattern, { kind: "failure", name }] as const satisfies [string, PatternRole],
      ),
    ),
    ...(rules.errors ?? []).map(
      (pattern) => [pattern, { kind: "error" }] as const satisfies [string, PatternRole],
    ),
  ];
  const patterns = written.map(([pattern, role]) => ({ role, compiled: compilePattern(pattern) }));
  const steps = patterns.reduce((sum, { compiled }) => sum + compiled.steps, 0);
  if (steps > mostStepsTogether) {
    throw new Fault(
      "invalid_argument",
      `the patterns of the rules are too large together (${steps} steps, of at most ${mostStepsTogether}); use fewer, or repeat less in them`,
    );
  }
  return patterns;
}
