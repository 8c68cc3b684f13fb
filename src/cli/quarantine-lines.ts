import type { Quarantine, QuarantinedResult } from "#api/granary.ts";
import { durationText } from "#core/duration-text.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Returns the results that differed when they were made again, the latest first; a release is shown last. */
export function quarantineLines({ results }: Quarantine, now: Date): string[] {
  if (results.length === 0) {
    return [
      "Nothing is in quarantine. `grange granary --cross-check 0.01` checks one hit in a hundred.",
    ];
  }
  return results.flatMap((result) => linesOf(result, now));
}

function linesOf(result: QuarantinedResult, now: Date): string[] {
  const { divergence, foundAt, foundBy, producer, givenTo, madeFrom, alsoInQuarantine } = result;
  const ago = (time: string) => `${durationText(now.getTime() - Date.parse(time))} ago`;
  const by = producer === "" ? "the writer is not known" : `written by ${printableLine(producer)}`;
  const also =
    alsoInQuarantine === 0 ? "" : `, of which ${alsoInQuarantine} are also in quarantine`;
  return [
    `${printableLine(divergence.namespace)} ${printableLine(divergence.key)}`,
    `    found ${ago(foundAt)} by ${printableLine(foundBy)} on ${printableLine(divergence.machine)}; ${by}`,
    ...(divergence.differs.length === 0
      ? []
      : [`    differs: ${divergence.differs.map(printableLine).join(", ")}`]),
    givenTo.length === 0
      ? "    sent to no known build"
      : `    sent to ${counted(givenTo.length, "build")}, which made ${counted(madeFrom, "result")} afterwards${also}`,
    ...(result.releasedAt === null
      ? []
      : [`    released ${ago(result.releasedAt)} by ${printableLine(result.releasedBy ?? "")}`]),
  ];
}

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}
