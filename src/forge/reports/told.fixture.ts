import type { Report } from "#api/benchmark-comparison.ts";
import type { GraphSummary, JobSummary, Run } from "#api/graph.ts";
import { compareArtifacts } from "#comparison/compare-artifacts.ts";
import { instructions, measured, toCompare } from "#comparison/measured.fixture.ts";
import { reportMarkdown } from "#comparison/report-markdown.ts";
import { overallDirection, verdictSentence } from "#comparison/verdict-sentence.ts";
import type { PullRequestToTell } from "./pull-comment.ts";
import type { FailedJobToTell } from "./report-source.ts";

const at = "2030-01-01T12:00:00.000Z";

/** A report as the lab makes one: `after` instructions where there were 1,000. */
export function aReport(after: number, more: Partial<Report> = {}): Report {
  const { summaries, cases, missing, newlyBroken } = compareArtifacts(
    toCompare({
      metrics: [instructions],
      before: [measured({ instructions: 1_000 })],
      after: [measured({ instructions: after })],
    }),
  );
  const told = {
    suite: "demo",
    before: "5.8.3",
    after: "5.9.3",
    summaries,
    changes: cases.filter(({ relevant }) => relevant),
    missing,
    newlyBroken,
    ...more,
  };
  const reproduce = more.reproduce ?? "grange bench compare 5.8.3 5.9.3 --suite demo --server";
  const whole = { ...told, deciding: ["instructions"], metrics: [instructions], reproduce };
  return {
    requestId: "22222222-2222-4222-8222-222222222222",
    ...told,
    madeAt: at,
    verdict: verdictSentence(whole),
    direction: overallDirection(whole),
    reproduce,
    markdown: reportMarkdown(whole),
    ...more,
  };
}

export function aRequest(more: Partial<PullRequestToTell> = {}): PullRequestToTell {
  return {
    id: "22222222-2222-4222-8222-222222222222",
    suite: "demo",
    artifact: "a".repeat(40),
    state: "completed",
    createdAt: new Date(at),
    endedAt: new Date(at),
    errors: 0,
    report: aReport(1_100),
    url: "https://farm.test/benchmarks/requests/22222222",
    sha: "a".repeat(40),
    wasRequested: false,
    ...more,
  };
}

export function aGraph(more: Partial<GraphSummary> = {}): GraphSummary {
  return {
    id: "11111111-1111-8111-8111-111111111111",
    repository: "demo",
    project: "default",
    commit: "a".repeat(40),
    rev: "a".repeat(40),
    subject: "Make it faster",
    author: "mona",
    committedAt: at,
    catalog: "c",
    set: "11111111-1111-8111-8111-111111111111",
    setName: null,
    templates: null,
    customised: 0,
    idleMs: 0,
    parent: null,
    branch: "",
    priority: 0,
    top: false,
    submittedBy: "forge",
    state: "failed",
    version: 9,
    jobs: 3,
    counts: { succeeded: 1, failed: 1, unreachable: 1 },
    createdAt: at,
    finishedAt: "2030-01-01T12:01:00.000Z",
    ...more,
  };
}

export function aFailedJob(
  name = "build",
  run: Partial<Run> = {},
  more: Partial<FailedJobToTell> = {},
): FailedJobToTell {
  return {
    job: { name, reason: null, state: "failed" } as JobSummary,
    run: {
      outcome: "failed",
      exitCode: 2,
      message: null,
      failureClass: null,
      errorLines: [],
      ...run,
    } as Run,
    definedAt: undefined,
    url: `https://farm.test/graphs/1/jobs/${encodeURIComponent(name)}`,
    ...more,
  };
}
