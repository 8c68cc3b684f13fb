import type { DiskCost } from "#api/granary.ts";
import { otherKeysWords } from "#api/other-keys.ts";
import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { EndSummary } from "#granary/protocol/answers.ts";

/** A smaller amount of unused prefetched data is not reported. */
const worthALineBytes = 1024 * 1024;

/** Returns the line of a build with dune, whose details are known when its results are stored. */
export function duneLine({ made, used }: { readonly made: number; readonly used: number }): string {
  const parts = [`${used} stored before for dune`];
  if (made > 0) parts.push(`${made} made`);
  return `grange: ${resultsText(made + used)}: ${parts.join(", ")} (details: \`grange granary why\`)`;
}

/** Describes the losses because of the disk, and the data removed to free space. */
export function diskCostText({ refusedWrites, removedBytes }: DiskCost): string {
  const parts: string[] = [];
  if (refusedWrites > 0) {
    parts.push(`${refusedWrites} ${refusedWrites === 1 ? "write" : "writes"} failed`);
  }
  if (removedBytes > 0) parts.push(`${memorySizeText(removedBytes)} removed to free disk space`);
  return parts.join(", ");
}

function resultsText(count: number): string {
  return `${count} ${count === 1 ? "result" : "results"}`;
}

/** Describes the savings of a build by its granary, in one to three lines. */
export function savedLines(summary: EndSummary | null): string[] {
  if (summary === null) return [];
  const { asked, local, prefetched, fetched, missed, unreachable, savedMs, waitedMs } = summary;
  if (asked === 0) {
    return [
      "grange: no tool of this build requested a result (docs/granary.md lists supported tools)",
    ];
  }
  const parts = [
    `${local + prefetched} here before ${asked === 1 ? "it was" : "they were"} requested`,
  ];
  if (fetched > 0) parts.push(`${fetched} fetched`);
  if (missed > 0) parts.push(`${missed} made`);
  if (unreachable > 0) {
    parts.push(
      `${unreachable} made because the farm did not answer (see \`grange granary status\`)`,
    );
  }
  const after: string[] = [];
  if (savedMs > 0) after.push(`saved about ${durationText(savedMs)} of work`);
  if (waitedMs > 0) after.push(`waited ${durationText(waitedMs)}`);
  const lines = [`grange: ${[`${resultsText(asked)}: ${parts.join(", ")}`, ...after].join("; ")}`];
  if (summary.wastedBytes > worthALineBytes) {
    const wasted = memorySizeText(summary.wastedBytes);
    const all = memorySizeText(summary.transferredBytes);
    lines.push(`grange: ${wasted} of ${all} prefetched results were not used`);
  }
  if (summary.otherKeys !== undefined) {
    lines.push(`grange: ${otherKeysWords[summary.otherKeys]}`);
  }
  if (summary.diskTrouble !== undefined) {
    lines.push(
      `grange: the granary's disk: ${diskCostText(summary.diskTrouble)} (see \`grange granary status\`)`,
    );
  }
  if (summary.wasteful === true) {
    lines.push(
      "grange: nothing was prefetched, because the last builds of this command did not use more than half of the prefetched data; prefetching is tried again later",
    );
  }
  return lines;
}
