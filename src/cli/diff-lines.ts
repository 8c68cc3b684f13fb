import type { CatalogDiff, ChangedPart } from "#api/catalog.ts";
import type { Paint } from "./terminal/paint.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { valueText } from "./value-text.ts";

/** Returns the differences of two catalogs, a line for each part. */
export function diffLines(diff: CatalogDiff, paint: Paint): string[] {
  const sections = [
    ...changes("job", diff.jobs, paint),
    ...diff.edges.map((edge) => edgeLine(edge, paint)),
    ...changes("switch", diff.switches, paint),
    ...diff.switchValues.map(
      ({ name, before, after }) =>
        `${paint.yellow("~")} switch ${paint.bold(printableLine(name))} on the branch: ${valueText(before)} → ${valueText(after)}`,
    ),
    ...changes("parameter", diff.parameters, paint),
    ...changes("graph", diff.graphs, paint),
  ];
  if (sections.length === 0) {
    return [`${sideText(diff.a)} and ${sideText(diff.b)} are the same catalog.`];
  }
  return [
    `${paint.dim("from")} ${sideText(diff.a)} ${paint.dim("to")} ${sideText(diff.b)}`,
    ...sections,
  ];
}

function sideText({ written, digest }: CatalogDiff["a"]): string {
  const short = digest.slice(0, 10);
  return written.startsWith(short) ? short : `${printableLine(written)} (${short})`;
}

function changes(
  what: string,
  { added, removed, changed }: CatalogDiff["jobs"],
  paint: Paint,
): string[] {
  const name = (text: string) => paint.bold(printableLine(text));
  return [
    ...removed.map((each) => `${paint.red("-")} ${what} ${name(each)}`),
    ...added.map((each) => `${paint.green("+")} ${what} ${name(each)}`),
    ...changed.flatMap((each) => [
      `${paint.yellow("~")} ${what} ${name(each.name)}`,
      ...each.parts.map((part) => `    ${partLine(part, paint)}`),
    ]),
  ];
}

function partLine({ path, before, after }: ChangedPart, paint: Paint): string {
  const where = path === "" ? "all of it" : printableLine(path);
  if (before === undefined) return `${where}: ${paint.green(valueText(after))}`;
  if (after === undefined)
    return `${where}: ${paint.red(valueText(before))} ${paint.dim("was removed")}`;
  return `${where}: ${paint.red(valueText(before))} → ${paint.green(valueText(after))}`;
}

function edgeLine({ job, on, before, after }: CatalogDiff["edges"][number], paint: Paint): string {
  const way = `${printableLine(on)} → ${printableLine(job)}`;
  if (before === null) return `${paint.green("+")} edge ${way} ${paint.dim(after ?? "")}`;
  if (after === null) return `${paint.red("-")} edge ${way} ${paint.dim(before)}`;
  return `${paint.yellow("~")} edge ${way}: ${before} → ${after}`;
}
