import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Graph, JobDetail } from "#api/graph.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { StateBadge } from "../../parts/state.tsx";
import { stateWords } from "../../parts/state-words.ts";
import { useWhyWaiting } from "../../parts/why-waiting.ts";
import { graphQuery, useLiveGraph } from "../graph/load.ts";
import { LogView } from "../log/log-view.tsx";
import { JobAside } from "./job-aside.tsx";
import { jobQuery, runUrl } from "./load.ts";
import { RunFacts } from "./run-facts.tsx";
import { RunFindings } from "./run-findings.tsx";
import { RunTabs } from "./run-tabs.tsx";
import type { JobSearch } from "./search.ts";
import "./job.css";

export function JobPage() {
  const { id, name } = useParams({ from: "/graphs/$id/jobs/$name" });
  const search = useSearch({ from: "/graphs/$id/jobs/$name" });
  const navigate = useNavigate({ from: "/graphs/$id/jobs/$name" });
  const { data: detail } = useSuspenseQuery(jobQuery(id, name));
  const liveGraph = useLiveJob(detail);
  const { graph, job } = detail;
  // In the order of their numbers, whichever way they come.
  const runList = detail.runList.toSorted((a, b) => a.number - b.number);
  const reason = useWhyWaiting(id, job);
  usePageTitle(`${stateWords[job.state]}: ${job.name}`, graph.repository);

  const run = runList.find((each) => each.number === search.run) ?? runList.at(-1);
  const change = (next: JobSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  useHotkeys({
    g: () => void navigate({ to: "/graphs/$id", params: { id }, search: { job: name } }),
  });

  return (
    <div className="job-page">
      <header className="page-header">
        <p className="crumbs">
          <Link to="/">Repositories</Link> /{" "}
          <Link to="/repositories/$name" params={{ name: graph.repository }}>
            {graph.repository}
          </Link>{" "}
          /{" "}
          <Link to="/graphs/$id" params={{ id }} search={{ job: name }}>
            {graph.subject}
          </Link>
        </p>
        <div className="row">
          <StateBadge state={job.state} />
          <h1>{job.name}</h1>
          {reason === null ? null : <span className="faint">{reason}</span>}
        </div>
      </header>
      <div className="job-body">
        <div className="job-main">
          {run === undefined ? (
            <p className="empty">
              {job.state === "unreachable" ? "It was not run." : "It has not run yet."} {job.reason}
            </p>
          ) : (
            <>
              <RunTabs
                runs={runList}
                chosen={run.number}
                onChoose={(number) => change({ run: number, line: undefined })}
              />
              <RunFacts run={run} />
              <RunFindings run={run} onLine={(line) => change({ line })} />
              <LogView
                key={`${id} ${name} ${run.number}`}
                url={`${runUrl(id, name, run.number)}/log`}
                fileName={`${name.replaceAll("/", "-")}-${run.number}.log`}
                line={search.line}
                find={search.find ?? ""}
                onLine={(line) => change({ line })}
                onFind={(find) => change({ find: find === "" ? undefined : find })}
              />
            </>
          )}
        </div>
        <JobAside detail={detail} run={run} jobs={liveGraph?.jobList} />
      </div>
    </div>
  );
}

/** The graph's stream says that the job changed; what changed in its runs is asked for. */
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
