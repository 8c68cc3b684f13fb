import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { stateWords } from "../../parts/state-words.ts";
import { DefinitionView } from "./definition-view.tsx";
import { JobAside } from "./job-aside.tsx";
import { JobHeader } from "./job-header.tsx";
import { JobTabs } from "./job-tabs.tsx";
import { jobPageQuery, useLiveJob } from "./load.ts";
import { OriginView } from "./origin-view.tsx";
import { RunsView } from "./runs-view.tsx";
import type { JobSearch } from "./search.ts";
import { WhyItFailed } from "./why-it-failed.tsx";
import "./job.css";

/**
 * Four questions about a job, each in its own section: what might run, what has run, is it customised, where is it
 * from.
 */
export function JobPage() {
  const { id, name } = useParams({ from: "/graphs/$id/jobs/$name" });
  const search = useSearch({ from: "/graphs/$id/jobs/$name" });
  const navigate = useNavigate({ from: "/graphs/$id/jobs/$name" });
  const { data: page } = useSuspenseQuery(jobPageQuery(id, name));
  useLiveJob(page);
  const { detail, failure, neighbours } = page;
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
      <JobHeader detail={detail} />
      {hasFailed && failure !== null ? <WhyItFailed graph={graph} failure={failure} /> : null}
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
        <JobAside detail={detail} run={run} neighbours={neighbours} />
      </div>
    </div>
  );
}
