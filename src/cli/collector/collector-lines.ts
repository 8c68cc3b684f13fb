import type { CollectorView } from "#api/collector.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";

export function collectorLines(collectors: readonly CollectorView[]): string[] {
  if (collectors.length === 0)
    return ["No collector is registered. To register one: grange collector add"];
  return tableLines([
    ["name", "target", "set", "state", "measures", "last seen", "self-test"],
    ...collectors.map((each) => [
      each.name,
      each.target,
      setText(each),
      each.state,
      measuredText(each),
      each.lastHeartbeatAt === null ? "never" : timeText(each.lastHeartbeatAt),
      selfTestText(each),
    ]),
  ]).concat(
    collectors
      .filter(({ outOfDuty }) => outOfDuty !== null)
      .map(({ name, outOfDuty }) => `${name} is out of duty: ${printableLine(outOfDuty ?? "")}`),
  );
}

function setText({ set, mayTakeOver }: CollectorView): string {
  const own = set === null ? "all" : String(set);
  return mayTakeOver.length === 0 ? own : `${own} (or ${mayTakeOver.join(", ")})`;
}

function measuredText({ job }: CollectorView): string {
  if (job === null) return "-";
  const artifact = printableLine(job.artifact);
  const what = [job.section, job.backend, job.profile].filter((word) => word !== "").join(" ");
  return job.against === null ? `${artifact} ${what}` : `${artifact} / ${job.against} ${what}`;
}

function selfTestText({ selfTest }: CollectorView): string {
  if (selfTest === null) return "-";
  const { passed, alarms, comparisons } = selfTest;
  return `${passed ? "passed" : "failed"}, ${alarms} of ${comparisons}`;
}
