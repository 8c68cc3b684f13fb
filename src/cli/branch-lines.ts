import type { Branch } from "#api/branch.ts";
import type { DefinitionsSource } from "#api/graph-choice.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";
import { valueText } from "./value-text.ts";

/** Returns the definition of a branch, with the author of each part. */
export function branchLines(branch: Branch, paint: Paint): string[] {
  const { resolved, own, catalog, next, history } = branch;
  const otherwise = branch.branch === "*" ? "usual" : "inherited";
  const note = (isOwn: boolean) => (isOwn ? "" : paint.dim(otherwise));
  const rows = [
    ["protected", valueText(resolved.protected), note(own?.protected !== undefined)],
    ["customisable", valueText(resolved.customisable), note(own?.customisable !== undefined)],
    ["priority cap", valueText(resolved.priorityCap), note(own?.priorityCap !== undefined)],
    ["definitions", sourceText(resolved.source), note(own?.source !== undefined)],
    ...Object.entries(resolved.switches).map(([name, value]) => [
      `switch ${printableLine(name)}`,
      valueText(value),
      note(Object.hasOwn(own?.switches ?? {}, name)),
    ]),
    ...Object.entries(resolved.parameters).map(([name, value]) => [
      `parameter ${printableLine(name)}`,
      valueText(value),
      note(Object.hasOwn(own?.parameters ?? {}, name)),
    ]),
    ...nextRows(next, paint),
    ...(catalog === null || catalog.catalog === next.catalog
      ? []
      : [
          [
            catalog.commit === null ? "pushed" : "used last",
            catalog.catalog.slice(0, 10),
            paint.dim(timeText(catalog.since)),
          ],
        ]),
  ];
  return [
    paint.bold(`${printableLine(branch.branch)} of ${printableLine(branch.repository)}`),
    ...tableLines(rows.map(([name = "", ...rest]) => [`  ${name}`, ...rest])),
    ...history.slice(0, 5).map(({ setAt, setBy, why, body }) => {
      const what = body === null ? "removed the settings" : "changed it";
      const because = why === null ? "" : `: ${printableLine(why)}`;
      return paint.dim(`  ${timeText(setAt)} ${setBy} ${what}${because}`);
    }),
  ];
}

/** Describes the definitions of the next submission. */
function nextRows({ catalog, commit, problem }: Branch["next"], paint: Paint): string[][] {
  if (problem !== null) return [["catalog", paint.red("none"), printableLine(problem)]];
  if (catalog === null) return [];
  const from = commit === null ? "" : paint.dim(`of commit ${commit.slice(0, 10)}`);
  return [["catalog", catalog.slice(0, 10), from]];
}

function sourceText(source: DefinitionsSource): string {
  switch (source.kind) {
    case "commit":
      return "of each commit";
    case "pushed":
      return "as pushed";
    case "directory":
      return `in ${printableLine(source.path)}`;
    case "repository":
      return `of ${printableLine(source.repository)} at ${printableLine(source.rev)}`;
  }
}
