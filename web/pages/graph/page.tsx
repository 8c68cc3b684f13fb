import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useDeferredValue, useMemo, useRef } from "react";
import { type JobState, jobStates } from "#api/job-state.ts";
import { useCommands } from "../../parts/commands.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { stateWords } from "../../parts/state-words.ts";
import { CellShapes } from "./cell-shapes.tsx";
import { filterJobs, sortByAttention } from "./filter-jobs.ts";
import { GraphHeader } from "./graph-header.tsx";
import { groupJobs } from "./group-jobs.ts";
import { readJobFilter } from "./job-filter.ts";
import { JobMatrix } from "./job-matrix.tsx";
import { JobPanel } from "./job-panel.tsx";
import { graphQuery, useLiveGraph } from "./load.ts";
import { NoWorker } from "./no-worker.tsx";
import type { GraphSearch, View } from "./search.ts";
import { Toolbar } from "./toolbar.tsx";
import { WhatFailed } from "./what-failed.tsx";
import { WhatWaits } from "./what-waits.tsx";
import "./graph.css";

// Not needed for the first view, which appears sooner without them.
const JobList = lazy(async () => ({ default: (await import("./job-list.tsx")).JobList }));
const Dag = lazy(async () => ({ default: (await import("./dag.tsx")).Dag }));

/** Above this number, a matrix is more readable than boxes and lines; one key switches back. */
const mostJobsAsGraph = 300;

export function GraphPage() {
  const { id } = useParams({ from: "/graphs/$id" });
  const search = useSearch({ from: "/graphs/$id" });
  const navigate = useNavigate({ from: "/graphs/$id" });
  const { data: graph } = useSuspenseQuery(graphQuery(id));
  useLiveGraph(graph);
  usePageTitle(`${stateWords[graph.state]}: ${graph.subject}`, graph.repository);

  const view: View = search.view ?? (graph.jobs > mostJobsAsGraph ? "matrix" : "graph");
  const states = useMemo(() => readStates(search.state), [search.state]);
  // Each letter redraws ten thousand cells: the input has priority.
  const text = useDeferredValue(search.q ?? "");
  const wanted = useMemo(() => readJobFilter(text), [text]);
  const filtered = useMemo(
    () => filterJobs(graph.jobList, { states, wanted }),
    [graph.jobList, states, wanted],
  );
  const ordered = useMemo(() => inViewOrder(view, filtered), [view, filtered]);
  const selected = graph.jobList.find((job) => job.name === search.job);
  const filterBox = useRef<HTMLInputElement>(null);

  const change = (next: GraphSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const select = (job: string | undefined) => change({ job });
  const step = (by: number, among = ordered) => {
    const at = among.findIndex((job) => job.name === search.job);
    const next =
      among[
        at === -1 && by < 0 ? among.length - 1 : Math.min(among.length - 1, Math.max(0, at + by))
      ];
    if (next !== undefined) select(next.name);
  };
  /** To the next failure on the screen, also from a job between two of them; around the end. Any job if none failed. */
  const stepFailure = (by: 1 | -1) => {
    const at = ordered.findIndex((job) => job.name === search.job);
    const round = ordered.map((_, n) => ordered.at((at + by * (n + 1)) % ordered.length));
    const failed = (at === -1 && by === -1 ? ordered.toReversed() : round).find(
      (job) => job?.state === "failed",
    );
    if (failed === undefined) step(by);
    else select(failed.name);
  };
  const openSelected =
    selected &&
    (() => void navigate({ to: "/graphs/$id/jobs/$name", params: { id, name: selected.name } }));
  const toggle = (state: JobState) => {
    const next = jobStates.filter((each) => states.has(each) !== (each === state));
    change({ state: next.length === 0 ? undefined : next.join(",") });
  };

  useHotkeys({
    // The keys of Treeherder, and `e`, `f` and the digits.
    j: () => stepFailure(1),
    n: () => stepFailure(1),
    k: () => stepFailure(-1),
    p: () => stepFailure(-1),
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    e: () => stepFailure(1),
    f: () => toggle("failed"),
    u: () => toggle("failed"),
    i: () => change({ state: search.state === inProgress ? undefined : inProgress }),
    l: openSelected,
    "/": () => filterBox.current?.focus(),
    "1": () => change({ view: "graph" }),
    "2": () => change({ view: "matrix" }),
    "3": () => change({ view: "list" }),
    Escape: () => select(undefined),
    Enter: openSelected,
  });
  useCommands([
    { label: "Next failure", keys: "j", run: () => stepFailure(1) },
    { label: "Previous failure", keys: "k", run: () => stepFailure(-1) },
    { label: "Only failed jobs", keys: "u", run: () => change({ state: "failed" }) },
    { label: "Only jobs in progress", keys: "i", run: () => change({ state: inProgress }) },
    { label: "All jobs", run: () => change({ state: undefined, q: undefined }) },
    { label: "Show as graph", keys: "1", run: () => change({ view: "graph" }) },
    { label: "Show as matrix", keys: "2", run: () => change({ view: "matrix" }) },
    { label: "Show as list", keys: "3", run: () => change({ view: "list" }) },
  ]);

  return (
    <div className="graph-page">
      <CellShapes />
      <GraphHeader graph={graph} />
      {(graph.counts.failed ?? 0) === 0 ? null : <WhatFailed graph={graph} />}
      <WhatWaits graph={graph} />
      <NoWorker graph={graph} />
      <Toolbar
        graph={graph}
        view={view}
        states={states}
        typed={search.q ?? ""}
        text={text}
        wanted={wanted}
        shown={filtered}
        filterBox={filterBox}
        isSelected={selected !== undefined}
        onChange={change}
        onToggle={toggle}
      />
      <div className="graph-body">
        <div className="graph-view">
          <Suspense fallback={<p className="faint center">Loading…</p>}>
            {view === "graph" ? (
              <Dag graph={graph} shown={filtered} selected={search.job} onSelect={select} />
            ) : view === "matrix" ? (
              <JobMatrix graph={graph} jobs={filtered} selected={search.job} onSelect={select} />
            ) : (
              <JobList graphId={id} jobs={ordered} selected={search.job} onSelect={select} />
            )}
          </Suspense>
        </div>
        {selected === undefined ? null : (
          <JobPanel graph={graph} job={selected} onSelect={select} />
        )}
      </div>
    </div>
  );
}

/** What has begun and is not over, as the address writes it. */
const inProgress = jobStates.filter((state) => state === "queued" || state === "running").join(",");

/** The next job is the next one on the screen. */
function inViewOrder(view: View, jobs: ReturnType<typeof filterJobs>): typeof jobs {
  switch (view) {
    case "graph":
      return jobs;
    case "matrix":
      return groupJobs(jobs).flatMap((group) => group.jobs);
    case "list":
      return sortByAttention(jobs);
  }
}

function readStates(text: string | undefined): Set<JobState> {
  const named = new Set(text?.split(","));
  return new Set(jobStates.filter((state) => named.has(state)));
}
