import { GranaryBuildReport } from "#api/granary.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { keepableText } from "#core/keepable-text.ts";

/** A clock that is wrong by more would put the build where nobody looks for it. */
const mostAheadMs = 60 * 60_000;

/**
 * What a granary tells of a build, read from its text.
 *
 * Throws `invalid_argument` for what is no report of this project. One from the future, by the farm's clock, ended
 * just now.
 */
export function readReport(json: string, project: string, clock: Clock): GranaryBuildReport {
  const report = GranaryBuildReport.safeParse(jsonOf(json, "report"));
  if (!report.success) {
    const [issue] = report.error.issues;
    throw new Fault(
      "invalid_argument",
      `that is no report of a build: ${issue?.path.join(".")}: ${issue?.message}`,
    );
  }
  if (report.data.project !== project) {
    throw new Fault(
      "invalid_argument",
      `the report is of project ${report.data.project}, the call of ${project}`,
    );
  }
  return onFarmsTime(report.data, clock.now());
}

function onFarmsTime(report: GranaryBuildReport, now: Date): GranaryBuildReport {
  const [started, ended] = [Date.parse(report.startedAt), Date.parse(report.endedAt)];
  if (ended >= started && ended <= now.getTime() + mostAheadMs) return report;
  const endedAt = Math.min(Math.max(started, ended), now.getTime());
  return {
    ...report,
    startedAt: new Date(Math.min(started, endedAt)).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
  };
}

/** Any JSON, with its text as the database can keep it. Throws `invalid_argument` for what is none. */
export function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === "string" ? keepableText(value, value.length) : value,
    );
  } catch (cause) {
    throw new Fault("invalid_argument", `the ${what} is no JSON`, { cause });
  }
}
