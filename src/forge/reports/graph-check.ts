import { isOver, type JobState } from "#api/job-state.ts";
import { codeSpan } from "#comparison/code-span.ts";
import type { CheckAnnotation, CheckRun } from "../check-run.ts";
import { errorPlace } from "./error-place.ts";
import { fence } from "./fence.ts";
import { sentenceAsMarkdown } from "./foreign-text.ts";
import type { FailedJobToTell, GraphToTell } from "./report-source.ts";

/** GitHub: a summary has 65,535 characters at most. */
const longestSummary = 60_000;
/** GitHub accepts fifty per call, and shows only few more. */
const mostAnnotations = 50;
/** The place for a job whose file is unknown: GitHub itself notes its own jobs' failures at `.github`. */
const somewhere = { file: ".grange", line: 1 };
const mostOfAJob = 10;
const mostLines = 5;
const longestMessage = 4_000;

/**
 * Returns a commit's check run for its graph. It has no data that changes every second, because each change is a call.
 */
export function graphCheck(
  told: GraphToTell,
  place: { readonly sha: string; readonly name: string; readonly externalId: string },
): CheckRun {
  const { graph, failed, url } = told;
  const { annotations, leftOut } = annotationsFor(failed);
  return {
    ...place,
    detailsUrl: url,
    state: stateOf(told),
    title: titleOf(told),
    summary: fitted([
      `${countsText(told)} [The graph](${url}).`,
      ...failed.map(jobText),
      ...othersText(told),
      ...(leftOut > 0 ? [`${leftOut} more places are in the logs, or above.`] : []),
    ]),
    annotations: graph.state === "cancelled" ? [] : annotations,
  };
}

function stateOf({ graph }: GraphToTell): CheckRun["state"] {
  const startedAt = new Date(graph.createdAt);
  const completedAt = new Date(graph.finishedAt ?? graph.createdAt);
  switch (graph.state) {
    case "running":
      return { kind: "in_progress", startedAt };
    case "succeeded":
      return { kind: "completed", startedAt, completedAt, conclusion: "success" };
    case "failed":
      return { kind: "completed", startedAt, completedAt, conclusion: "failure" };
    case "cancelled":
      return { kind: "completed", startedAt, completedAt, conclusion: "cancelled" };
  }
}

function titleOf(told: GraphToTell): string {
  const { jobs, state } = told.graph;
  const failed = countOf(told, ["failed"]);
  const of = `${jobs} ${jobs === 1 ? "job" : "jobs"}`;
  switch (state) {
    case "running":
      return failed > 0 ? `${failed} of ${of} failed so far` : "Running";
    case "succeeded":
      return "All requested jobs succeeded";
    case "failed":
      return failed > 0 ? `${failed} of ${of} failed` : "Failed";
    case "cancelled":
      return "Cancelled";
  }
}

function countsText(told: GraphToTell): string {
  const { graph } = told;
  const number = `${graph.jobs} ${graph.jobs === 1 ? "job" : "jobs"}`;
  if (graph.state === "running") return `${number}.`;
  const parts = [
    [countOf(told, ["succeeded", "coalesced"]), "succeeded"],
    [countOf(told, ["failed"]), "failed"],
    [countOf(told, ["unreachable", "expired"]), "skipped"],
    [countOf(told, ["cancelled"]), "cancelled"],
    [countOf(told, ["inactive"]), "not asked for"],
  ] as const;
  const some = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return `${number}${some.length > 0 ? `: ${some.join(", ")}` : ""}.`;
}

function countOf({ graph }: GraphToTell, states: readonly JobState[]): number {
  return states.filter(isOver).reduce((sum, state) => sum + (graph.counts[state] ?? 0), 0);
}

function jobText({ job, run, url }: FailedJobToTell): string {
  const lines = (run?.errorLines ?? []).slice(0, mostLines).map(({ text }) => text);
  return [
    `#### ${codeSpan(job.name)}`,
    `${sentenceAsMarkdown(reasonOf({ job, run }))}. [The job](${url}).`,
    ...(lines.length > 0 ? [fence(lines.join("\n"))] : []),
  ].join("\n\n");
}

/** Names further failed jobs, as far as they are known. */
function othersText(told: GraphToTell): string[] {
  const { failed, others } = told;
  const more = countOf(told, ["failed"]) - failed.length;
  if (more <= 0) return [];
  const names = others.map((name) => codeSpan(name)).join(", ");
  const unnamed = more > others.length ? ", and others" : "";
  return [`And ${more} more that failed${names === "" ? "" : `: ${names}${unnamed}`}.`];
}

function reasonOf({ job, run }: Pick<FailedJobToTell, "job" | "run">): string {
  const outcome = run?.outcome ?? null;
  const exit = run?.exitCode ?? null;
  const facts = [
    outcome === null ? "failed" : outcome.replaceAll("_", " "),
    ...(exit === null ? [] : [`exit code ${exit}`]),
    ...[run?.failureClass ?? null].flatMap((name) => (name === null ? [] : [`class ${name}`])),
    ...[run?.message ?? job.reason].flatMap((text) => text ?? []),
  ];
  return facts.join(", ").replace(/[.\s]+$/, "");
}

/**
 * Returns annotations at the places in error lines, or else at the job's definition. Each job gets its first before any
 * gets its second, so that no job is omitted while there is room.
 */
function annotationsFor(failed: readonly FailedJobToTell[]) {
  const byJob = failed.map(annotationsOf);
  const chosen = byJob.flatMap((of, job) => of.map((each, at) => ({ each, job, at })));
  const kept = chosen.toSorted((a, b) => Number(a.at > 0) - Number(b.at > 0) || a.job - b.job);
  return {
    annotations: kept
      .slice(0, mostAnnotations)
      .toSorted((a, b) => a.job - b.job || a.at - b.at)
      .map(({ each }) => each),
    leftOut: Math.max(0, chosen.length - mostAnnotations),
  };
}

function annotationsOf({ job, run, definedAt }: FailedJobToTell): CheckAnnotation[] {
  const seen = new Set<string>();
  const found = (run?.errorLines ?? []).flatMap(({ text }): CheckAnnotation[] => {
    const place = errorPlace(text);
    if (place === undefined || seen.has(`${place.path}:${place.line}`)) return [];
    seen.add(`${place.path}:${place.line}`);
    return [annotation(place.path, place.line, `${job.name}: ${text}`)];
  });
  if (found.length > 0) return found.slice(0, mostOfAJob);
  const lines = (run?.errorLines ?? []).slice(0, mostLines).map(({ text }) => text);
  const message = [`${job.name}: ${reasonOf({ job, run })}`, ...lines].join("\n");
  const { file, line } = definedAt ?? somewhere;
  return [annotation(file, line, message)];
}

/** Shown as plain text: nothing in it is markup. */
function annotation(path: string, line: number, message: string): CheckAnnotation {
  const plain = message
    .split("\n")
    .map((each) => each.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, " "))
    .join("\n");
  return {
    path,
    startLine: line,
    endLine: line,
    level: "failure",
    message: plain.length > longestMessage ? `${plain.slice(0, longestMessage - 1)}…` : plain,
  };
}

function fitted(parts: readonly string[]): string {
  const kept: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (length + part.length + 2 > longestSummary) {
      kept.push(
        `A check run cannot contain everything: ${parts.length - kept.length} parts are left out.`,
      );
      break;
    }
    kept.push(part);
    length += part.length + 2;
  }
  return kept.join("\n\n");
}
