import type { CommandDifference } from "#api/action-comparison.ts";
import type { ActionSettings } from "../pages/read-command.ts";

/** Names of outputs that are shown of an action with many. */
const mostOutputs = 20;

/** Returns the differences between what two actions set besides inputs, command line and platform. */
export function compareSettings(
  before: ActionSettings,
  after: ActionSettings,
): CommandDifference[] {
  const pairs: readonly (readonly [string, string | null, string | null])[] = [
    ["timeout", timeoutText(before), timeoutText(after)],
    ["do not cache", before.doNotCache ? "yes" : null, after.doNotCache ? "yes" : null],
    ["salt", before.saltHash, after.saltHash],
    ...outputPairs(before.outputs, after.outputs),
  ];
  return pairs
    .filter(([, old, now]) => old !== now)
    .map(([name, old, now]) => ({ part: "setting", name, before: old, after: now }));
}

const timeoutText = ({ timeoutMs }: ActionSettings) =>
  timeoutMs === null ? null : `${timeoutMs / 1_000} s`;

/** Only the outputs that the other action does not have: lists may be long. */
function outputPairs(
  before: readonly string[] | null,
  after: readonly string[] | null,
): (readonly [string, string | null, string | null])[] {
  if (before === null || after === null) return [];
  return [["outputs", onlyIn(before, after), onlyIn(after, before)]];
}

function onlyIn(outputs: readonly string[], others: readonly string[]): string | null {
  const known = new Set(others);
  const own = outputs.filter((each) => !known.has(each));
  if (own.length === 0) return null;
  const more = own.length - mostOutputs;
  return own.slice(0, mostOutputs).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
