import { Comparison, Report } from "#api/benchmark-comparison.ts";
import {
  BenchmarkSearchView,
  BenchmarkStatus,
  ChangePointStatement,
  ChangePointView,
  Series,
  SeriesGrid,
  StartBenchmarkSearch,
} from "#api/benchmark-history.ts";
import { CaseNoise } from "#api/benchmark-noise.ts";
import {
  Artifacts,
  RequestDetail,
  RequestSummary,
  SubmitBenchmarkRequest,
} from "#api/benchmark-request.ts";
import { ChangeCollector } from "#api/collector.ts";
import { caseOfKey } from "#core/test-case.ts";
import type { FakeLab } from "./fake-lab.ts";
import { FakeRefusal } from "./fake-refusal.ts";

/** Answers `/benchmarks/…` from a made-up lab. */
export function answerBenchmarks(
  lab: FakeLab,
  [kind, id, action]: readonly string[],
  query: URLSearchParams,
  body: unknown,
): unknown {
  if (body !== undefined) lab.told.push([kind, id, action].filter(Boolean).join("/"));
  const text = (name: string) => query.get(name) ?? "";
  const metric = query.get("metric") ?? lab.suites[0]?.headline ?? "";
  switch (kind) {
    case "status":
      return statusOf(lab);
    case "suites":
      return { suites: lab.suites };
    case "artifacts":
      return Artifacts.parse({ artifacts: lab.artifacts.slice(0, 100), next: null });
    case "collectors":
      if (body !== undefined) return changed(lab, id ?? "", body);
      return { collectors: lab.collectors };
    case "compare":
      return Comparison.parse(
        known(lab.compare(text("before"), text("after"), metric), "such artifact"),
      );
    case "series": {
      const of = known(caseOfKey(text("case")), "such case");
      return Series.parse(known(lab.series(of, metric, text("samples") === "true"), "such series"));
    }
    case "noise":
      return CaseNoise.parse(
        known(lab.noise(known(caseOfKey(text("case")), "such case")), "such case"),
      );
    case "graphs":
      return gridOf(lab, query, metric);
    case "change-points":
      return judged(lab, body);
    case "searches":
      return answerSearches(lab, id, action, body);
    case "requests":
      return answerRequests(lab, id, action, body);
    default:
      throw new FakeRefusal(404, "not_found", `there is no ${kind}`);
  }
}

function known<T>(thing: T | undefined, words: string): T {
  if (thing === undefined) throw new FakeRefusal(404, "not_found", `there is no ${words}`);
  return thing;
}

function statusOf(lab: FakeLab): BenchmarkStatus {
  const isEnded = ({ endedAt }: RequestDetail) => endedAt !== null;
  return BenchmarkStatus.parse({
    at: new Date().toISOString(),
    queue: lab.requests
      .filter((each) => !isEnded(each))
      .map((each) => ({
        request: RequestSummary.parse(each),
        place: each.place ?? 0,
        because: each.placeBecause ?? "in progress",
        estimate: each.estimate,
      })),
    recent: lab.requests.filter(isEnded).map((each) => RequestSummary.parse(each)),
    collectors: lab.collectors,
    alarms: lab.alarms,
  });
}

function changed(lab: FakeLab, name: string, body: unknown) {
  const change = ChangeCollector.parse(body);
  lab.collectors = lab.collectors.map((each) =>
    each.name === name
      ? {
          ...each,
          active: change.active ?? each.active,
          outOfDuty: change.outOfDuty === undefined ? each.outOfDuty : change.outOfDuty,
          state: change.active === false ? "inactive" : "waiting",
        }
      : each,
  );
  return known(
    lab.collectors.find((each) => each.name === name),
    `collector ${name}`,
  );
}

function judged(lab: FakeLab, body: unknown) {
  const {
    case: of,
    metric,
    artifact,
    fingerprint,
    standing,
    note,
  } = ChangePointStatement.parse(body);
  lab.said.unshift(body);
  const steps = lab.series(of, metric, false)?.changePoints ?? [];
  const step = steps.find((each) => each.artifact === artifact && each.fingerprint === fingerprint);
  return ChangePointView.parse({ ...known(step, "such step"), standing, note, statedBy: "ada" });
}

function gridOf(lab: FakeLab, query: URLSearchParams, metric: string): SeriesGrid {
  const all = lab.artifacts.map(({ tag, datedAt }) => ({ tag, datedAt })).toReversed();
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? "~"];
  const artifacts = all.filter(({ tag }) => tag >= from && tag <= to);
  const facets = ["section", "benchmark", "profile", "scenario", "backend", "target"] as const;
  const cases = lab.cases.filter((each) =>
    facets.every((facet) => !query.has(facet) || query.get(facet) === each[facet]),
  );
  const definition = known(
    lab.suites[0]?.metrics.find(({ name }) => name === metric),
    "such metric",
  );
  return SeriesGrid.parse({
    suite: lab.suites[0]?.name ?? "",
    metric: definition,
    artifacts,
    leftOut: 0,
    series: cases.flatMap((of) => {
      const series = lab.series(of, metric, false);
      if (series === undefined) return [];
      return [...new Set(series.points.map(({ fingerprint }) => fingerprint))].map(
        (fingerprint) => {
          const own = new Map(
            series.points
              .filter((point) => point.fingerprint === fingerprint)
              .map(({ artifact, value }) => [artifact, value]),
          );
          return {
            case: of,
            fingerprint,
            values: artifacts.map(({ tag }) => own.get(tag) ?? null),
            steps: series.changePoints.filter((step) => step.fingerprint === fingerprint),
          };
        },
      );
    }),
  });
}

function answerSearches(
  lab: FakeLab,
  id: string | undefined,
  action: string | undefined,
  body: unknown,
) {
  if (id === undefined && body === undefined) return { searches: lab.searches };
  if (id === undefined) {
    const { every: _, ...asked } = StartBenchmarkSearch.parse(body);
    const begun = BenchmarkSearchView.parse({
      ...asked,
      id: "22222222-0000-4000-8000-000000000002",
      metric: asked.metric ?? "instructions",
      state: "running",
      sentence: "It has just begun.",
      artifacts: 31,
      measured: 0,
      steps: [],
      points: [],
      requestedBy: "ada",
      createdAt: new Date().toISOString(),
      endedAt: null,
    });
    lab.searches.unshift(begun);
    return begun;
  }
  if (action === "cancel") {
    lab.searches = lab.searches.map((each) =>
      each.id === id ? { ...each, state: "cancelled", endedAt: new Date().toISOString() } : each,
    );
  }
  return known(
    lab.searches.find((each) => each.id === id),
    `search ${id}`,
  );
}

function answerRequests(
  lab: FakeLab,
  id: string | undefined,
  action: string | undefined,
  body: unknown,
) {
  if (id === undefined) {
    const asked = SubmitBenchmarkRequest.parse(body);
    const [like] = lab.requests;
    const request = RequestDetail.parse({
      ...known(like, "request"),
      id: "11111111-0000-4000-8000-000000099999",
      artifact: asked.artifact,
      state: "artifacts-ready",
      startedAt: null,
      jobs: { total: 0, ended: 0, failed: 0 },
      jobList: [],
      place: 4,
      placeBecause: "asked for last",
    });
    lab.requests.push(request);
    return {
      request: RequestSummary.parse(request),
      outcome: "created",
      sentence: `${asked.artifact} is queued at place 4.`,
      parents: [],
    };
  }
  const request = known(
    lab.requests.find((each) => each.id === id),
    `request ${id}`,
  );
  if (action === "report") return reportOf(lab, request);
  if (action === "cancel") {
    request.state = "cancelled";
    request.startedAt ??= new Date().toISOString();
    request.endedAt = new Date().toISOString();
  }
  if (action === "retry") {
    return {
      request: RequestSummary.parse(request),
      outcome: "created",
      sentence: `${request.artifact} is queued again.`,
      parents: [],
    };
  }
  return request;
}

function reportOf(lab: FakeLab, { id, artifact, parent, suite, endedAt }: RequestDetail): Report {
  const compared = known(lab.compare(parent ?? "", artifact, "instructions"), "report");
  return Report.parse({
    requestId: id,
    suite,
    before: parent ?? "",
    after: artifact,
    madeAt: endedAt ?? new Date().toISOString(),
    verdict:
      "Mixed: 3 of 24 primary cases regressed by 1.9 % on the mean, and 1 improved by 3.2 %; 2 are undecided.",
    direction: "mixed",
    summaries: compared.summaries,
    changes: compared.cases.filter(({ relevant }) => relevant),
    missing: compared.missing,
    newlyBroken: compared.newlyBroken,
    reproduce: `grange bench compare ${parent} ${artifact} --suite ${suite}`,
    markdown: `| case | change |\n|---|---|\n`,
  });
}
