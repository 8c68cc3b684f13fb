import type {
  ActionComparison,
  CommandDifference,
  ComparedAction,
} from "#api/action-comparison.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Values of variables can be long; a beginning shows what they are. */
const longestValue = 200;

/** Returns how two actions differ, one difference in each line. */
export function comparedLines({ after, before, differences }: ActionComparison): string[] {
  if (before === null || differences === null)
    return ["The farm knows no earlier success to compare with."];
  const { command, inputs, isCut, isSameAction, unreadable } = differences;
  const lines = [
    `compared with ${nameOf(before)} of ${before.at}${before.outcome === null ? "" : ` (${before.outcome})`}`,
    ...(before.worker === null || after.worker === null || before.worker === after.worker
      ? []
      : [
          `worker: that one ran on ${printableLine(before.worker)}, this one on ${printableLine(after.worker)}`,
        ]),
  ];
  if (isSameAction)
    return [...lines, "It is the same action: command, environment and input files are equal."];
  return [
    ...lines,
    ...command.map(commandLine),
    ...inputs.map(({ path, change }) => `input ${printableLine(path)}: ${change}`),
    ...(isCut ? ["There may be more differences."] : []),
    ...(unreadable === null ? [] : [unreadable]),
    ...(command.length + inputs.length === 0 && unreadable === null
      ? ["They differ only in what is not shown, such as values of secrets."]
      : []),
  ];
}

function nameOf({ executionId, job }: ComparedAction): string {
  if (job !== null)
    return `run ${job.run} of ${printableLine(job.name)}, commit ${job.commit.slice(0, 8)}`;
  return executionId === null ? "a result from the cache" : `execution ${executionId}`;
}

/** Returns a difference as a sentence: `environment: LANG was "C" and is not there`. */
export function commandLine({ part, name, before, after }: CommandDifference): string {
  const changed = `was ${shown(before)} and is ${shown(after)}`;
  switch (part) {
    case "argument":
      return `argument ${name} ${changed}`;
    case "environment":
    case "platform":
      return `${part}: ${printableLine(name)} ${changed}`;
    case "working directory":
      return `the working directory ${changed}`;
    case "setting":
      return `${name} ${changed}`;
  }
}

function shown(value: string | null): string {
  if (value === null) return "not there";
  const text = value.length > longestValue ? `${value.slice(0, longestValue)}…` : value;
  return printableLine(JSON.stringify(text));
}
