import type { CommandDifference } from "#api/action-comparison.ts";
import type { ExecutionDetail } from "#api/execution.ts";

type Command = NonNullable<ExecutionDetail["command"]>;

/** Returns the differences between two commands: arguments first, then variables and properties by name. */
export function compareCommands(before: Command, after: Command): CommandDifference[] {
  return [
    ...differentArguments(before.arguments, after.arguments),
    ...differentPairs("environment", before.environment, after.environment),
    ...differentPairs("platform", before.platform, after.platform),
    ...(before.workingDirectory === after.workingDirectory
      ? []
      : [
          {
            part: "working directory" as const,
            name: "",
            before: before.workingDirectory,
            after: after.workingDirectory,
          },
        ]),
  ];
}

/** Compares the words between the common beginning and the common end: an inserted word is then one difference. */
function differentArguments(
  before: readonly string[],
  after: readonly string[],
): CommandDifference[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => ({
    part: "argument" as const,
    name: String(start + at),
    before: old[at] ?? null,
    after: now[at] ?? null,
  })).filter((pair) => pair.before !== pair.after);
}

function differentPairs(
  part: "environment" | "platform",
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): CommandDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ part, name, before: before[name] ?? null, after: after[name] ?? null }));
}
