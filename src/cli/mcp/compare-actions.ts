import type { ExecutionDetail } from "#api/execution.ts";

/** The part of an execution that makes its action: two equal ones are one action. */
export type ActionFacts = Pick<ExecutionDetail, "actionDigest" | "inputRoot" | "command">;

/** A difference between two actions, without their input files. */
interface ActionDifference {
  readonly part: "arguments" | "environment" | "platform" | "working directory" | "inputs";
  readonly sentence: string;
}

/** Values of variables can be long; a beginning shows what they are. */
const longestValue = 200;

/** Compares two actions: each difference alone is a reason why the result of one is not used for the other. */
export function compareActions(before: ActionFacts, after: ActionFacts): ActionDifference[] {
  const [old, now] = [before.command, after.command];
  const differences: ActionDifference[] = [];
  if (old !== null && now !== null) {
    differences.push(
      ...argumentDifference(old.arguments, now.arguments),
      ...recordDifferences("environment", old.environment, now.environment),
      ...recordDifferences("platform", old.platform, now.platform),
    );
    if (old.workingDirectory !== now.workingDirectory) {
      differences.push({
        part: "working directory",
        sentence: `the working directory was "${old.workingDirectory}" and is "${now.workingDirectory}"`,
      });
    }
  }
  if (before.inputRoot !== null && after.inputRoot !== null && before.inputRoot !== after.inputRoot)
    differences.push({ part: "inputs", sentence: "input files differ" });
  return differences;
}

function argumentDifference(old: readonly string[], now: readonly string[]): ActionDifference[] {
  const at = Array.from({ length: Math.max(old.length, now.length) }, (_, i) => i).find(
    (i) => old[i] !== now[i],
  );
  if (at === undefined) return [];
  return [
    {
      part: "arguments",
      sentence: `argument ${at} was ${shown(old[at])} and is ${shown(now[at])}`,
    },
  ];
}

function recordDifferences(
  part: "environment" | "platform",
  old: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): ActionDifference[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].toSorted();
  return names.flatMap((name) =>
    old[name] === now[name]
      ? []
      : [{ part, sentence: `${part}: ${name} was ${shown(old[name])} and is ${shown(now[name])}` }],
  );
}

function shown(value: string | undefined): string {
  if (value === undefined) return "not there";
  return JSON.stringify(value.length > longestValue ? `${value.slice(0, longestValue)}…` : value);
}
