import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import type { Graph, JobDetail } from "#api/graph.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { stateWords } from "../../parts/state-words.ts";
import { graphQuery, useLiveGraph } from "../graph/load.ts";
import { DefinitionView } from "./definition-view.tsx";
import { JobAside } from "./job-aside.tsx";
import { JobHeader } from "./job-header.tsx";
import { JobTabs } from "./job-tabs.tsx";
import { jobQuery } from "./load.ts";
import { OriginView } from "./origin-view.tsx";
import { RunsView } from "./runs-view.tsx";
import type { JobSearch } from "./search.ts";
import "./job.css";

const WhyItFailed = lazy(async () => ({
  default: (await import("./why-it-failed.tsx")).WhyItFailed,
}));

/**
 * Four questions about a job, each in its own section: what might run, what has run, is it customised, where is it
 * from.
 */
export function JobPage() {
  const { id, name } = useParams({ from: "/graphs/$id/jobs/$name" });
  const search = useSearch({ from: "/graphs/$id/jobs/$name" });
  const navigate = useNavigate({ from: "/graphs/$id/jobs/$name" });
  const { data: detail } = useSuspenseQuery(jobQuery(id, name));
  const liveGraph = useLiveJob(detail);
  const { graph, job } = detail;
  // In the order of their numbers, regardless of the order of arrival.
  const runs = detail.runList.toSorted((a, b) => a.number - b.number);
  usePageTitle(`${stateWords[job.state]}: ${job.name}`, graph.repository);

  const view = search.view ?? "runs";
  const run = runs.find((each) => each.number === search.run) ?? runs.at(-1);
  const change = (next: JobSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  useHotkeys({
    g: () => void navigate({ to: "/graphs/$id", params: { id }, search: { job: name } }),
  });

  const hasFailed = job.state === "failed" && view === "runs";
  return (
    <div className={hasFailed ? "job-page has-failed" : "job-page"}>
      <JobHeader graph={graph} job={job} priority={detail.priority} />
      {hasFailed ? (
        <Suspense>
          <WhyItFailed detail={detail} />
        </Suspense>
      ) : null}
      <JobTabs detail={detail} view={view} onView={(next) => change({ view: next })} />
      <div className="job-body">
        {view === "runs" ? (
          <RunsView
            detail={detail}
            runs={runs}
            run={run}
            line={search.line}
            find={search.find ?? ""}
            onChange={change}
          />
        ) : view === "definition" ? (
          <DefinitionView detail={detail} />
        ) : (
          <OriginView detail={detail} />
        )}
        <JobAside detail={detail} run={run} jobs={liveGraph?.jobList} />
      </div>
    </div>
  );
}

/** The graph's stream reports that the job changed; the changes of its runs are requested. */
function useLiveJob(detail: JobDetail): Graph | undefined {
  const client = useQueryClient();
  const { id } = detail.graph;
  const { name } = detail.job;
  const { data: graph } = useQuery(graphQuery(id));
  useLiveGraph(graph);

  const heard = graph?.jobList.find((job) => job.name === name)?.version ?? 0;
  const isOld = heard > detail.job.version;
  useEffect(() => {
    if (isOld) void client.invalidateQueries(jobQuery(id, name));
  }, [isOld, heard, client, id, name]);
  return graph;
}
