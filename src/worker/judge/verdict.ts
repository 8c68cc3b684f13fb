import type { FailureRule, NumberRule, OutcomeRules } from "#core/outcome-rules.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import type { Verdict } from "../judge-outcome.ts";
import type { Seen } from "./rule-judge.ts";

/** How a process ended, before the rules are applied. */
export interface Ended extends Verdict {
  readonly exitCode: number;
}

export interface RuledVerdict extends Verdict {
  readonly failureClass: string | undefined;
}

/**
 * Applies the rules to an end: a success whose rules are not met becomes a failure, and a failure gets its class. A
 * failure never becomes a success.
 */
export function verdictBy(rules: OutcomeRules, seen: Seen, ended: Ended): RuledVerdict {
  const { outcome, message, exitCode } = ended;
  if (outcome === Outcome.CANCELLED) return { outcome, message, failureClass: undefined };
  const unmet = outcome === Outcome.SUCCEEDED ? unmetRules(rules, seen) : [];
  if (outcome === Outcome.SUCCEEDED && unmet.length === 0)
    return { outcome, message, failureClass: undefined };
  const failed = outcome === Outcome.SUCCEEDED ? Outcome.FAILED : outcome;
  const found = classOf(rules.failures ?? {}, seen, failed, exitCode);
  const sentences = [message, ...unmet, ...(found === undefined ? [] : [found.because])];
  return {
    outcome: failed,
    message: [...new Set(sentences)].filter((sentence) => sentence !== "").join("; "),
    failureClass: found?.name,
  };
}

/** Returns the rules that a successful run did not meet, and what was seen instead. */
function unmetRules(rules: OutcomeRules, seen: Seen): string[] {
  if (!seen.whole) {
    return [
      "its log could not be judged to the end: its lines make the patterns of the rules too costly; make them simpler",
    ];
  }
  const missing = (rules.success ?? [])
    .filter((pattern) => !seen.patterns.has(pattern))
    .map((pattern) => `no line of the log matches ${pattern}`);
  const numbers = Object.entries(rules.numbers ?? {}).flatMap(([name, rule]) =>
    unmetNumber(name, rule, seen),
  );
  const failing = Object.entries(rules.failures ?? {}).flatMap(([name, rule]) => {
    const line = seen.failures.get(name);
    return rule.fails === true && line !== undefined ? [shows(name, line)] : [];
  });
  return [...missing, ...numbers, ...failing];
}

function unmetNumber(name: string, { pattern, min, max, optional }: NumberRule, seen: Seen) {
  const found = seen.numbers.get(name);
  if (found === undefined)
    return optional === true ? [] : [`${name} is missing: no line of the log matches ${pattern}`];
  const { value, text } = found;
  if (value === undefined) return [`${name} was ${JSON.stringify(text.slice(0, 40))}, no number`];
  if (min !== undefined && value < min) return [`${name} was ${value}, less than ${min}`];
  if (max !== undefined && value > max) return [`${name} was ${value}, more than ${max}`];
  return [];
}

/**
 * Returns the class of a failure: the class that appeared first in the log, because causes come before their
 * consequences; otherwise the class of its exit code or outcome, by name when there are several.
 */
function classOf(
  classes: Readonly<Record<string, FailureRule>>,
  seen: Seen,
  outcome: Outcome,
  exitCode: number,
): { readonly name: string; readonly because: string } | undefined {
  const [first] = [...seen.failures].toSorted(([a, x], [b, y]) =>
    x.number !== y.number ? x.number - y.number : a < b ? -1 : 1,
  );
  if (first !== undefined) return { name: first[0], because: shows(...first) };
  const ended = endedAs(outcome);
  const [name] = Object.entries(classes)
    .filter(
      ([, { exitCodes = [], outcomes = [] }]) =>
        (outcome === Outcome.FAILED && exitCodes.includes(exitCode)) ||
        outcomes.some((one) => one === ended),
    )
    .map(([each]) => each)
    .toSorted();
  if (name === undefined) return undefined;
  const because = outcome === Outcome.FAILED ? `${name}: exit code ${exitCode}` : "";
  return { name, because };
}

function endedAs(outcome: Outcome): "timed_out" | "out_of_memory" | undefined {
  if (outcome === Outcome.TIMED_OUT) return "timed_out";
  return outcome === Outcome.OUT_OF_MEMORY ? "out_of_memory" : undefined;
}

function shows(name: string, line: { readonly number: number; readonly text: string }): string {
  const text = line.text.trim();
  return `${name}: line ${line.number} says ${JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 199)}…`)}`;
}
