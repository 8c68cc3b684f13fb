import { GranaryBuildReport } from "#api/granary.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { keepableText } from "#core/keepable-text.ts";

/** A clock that is wrong by more would put the build far from its place in lists. */
const mostAheadMs = 60 * 60_000;

/**
 * Reads a granary's report of a build.
 *
 * Throws `invalid_argument` for a text that is not a report of this project. A report from the future, by the farm's
 * clock, counts as ended just now.
 */
export function readReport(json: string, project: string, clock: Clock): GranaryBuildReport {
  const report = GranaryBuildReport.safeParse(jsonOf(json, "report"));
  if (!report.success) {
    const [issue] = report.error.issues;
    throw new Fault(
      "invalid_argument",
      `invalid report of a build: ${issue?.path.join(".")}: ${issue?.message}`,
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

/** Parses any JSON, and makes its text storable in the database. Throws `invalid_argument` for invalid JSON. */
export function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === "string" ? keepableText(value, value.length) : value,
    );
  } catch (cause) {
    throw new Fault("invalid_argument", `the ${what} is not JSON`, { cause });
  }
}
