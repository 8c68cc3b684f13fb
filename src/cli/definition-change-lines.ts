import type { DefinitionChange } from "#api/job-origin.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Returns the differences of two definitions, as `- path: was` and `+ path: is`. */
export function definitionChangeLines(
  changes: readonly DefinitionChange[],
  paint: Paint,
): string[] {
  return changes.flatMap(({ path, was, is }) => [
    ...(was === undefined ? [] : [paint.red(`- ${printableLine(path)}: ${shown(was)}`)]),
    ...(is === undefined ? [] : [paint.green(`+ ${printableLine(path)}: ${shown(is)}`)]),
  ]);
}

function shown(value: unknown): string {
  return printableLine(JSON.stringify(value));
}
