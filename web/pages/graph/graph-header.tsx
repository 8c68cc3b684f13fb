import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { graphEndpoints } from "#api/endpoints/graph-endpoints.ts";
import type { Graph } from "#api/graph.ts";
import { defaultProject } from "#core/default-project.ts";
import { call } from "../../farm/ask.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { CountsBar } from "../../parts/counts-bar.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { StateBadge } from "../../parts/state.tsx";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { HeaderButtons } from "./header-buttons.tsx";
import { readGraphAgain } from "./load.ts";

export function GraphHeader({ graph }: { graph: Graph }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => call(graphEndpoints.cancelGraph, { params: { graph: graph.id } }),
    onSettled: () => readGraphAgain(client, graph.id),
  });
  const cached = graph.jobList.filter((job) => job.cached).length;
  const stale = graph.jobList.filter((job) => job.stale).length;
  return (
    <header className="page-header">
      <Crumbs>
        <Link to="/repositories/$name" params={{ name: graph.repository }}>
          {graph.repository}
        </Link>
      </Crumbs>
      <div className="row">
        <StateBadge state={graph.state} />
        <h1>{graph.subject}</h1>
        <span className="grow" />
        <HeaderButtons graph={graph} />
        {graph.state === "running" ? (
          <ConfirmButton
            label="Cancel…"
            question="Cancel this graph?"
            confirm="Cancel the graph"
            busy={cancel.isPending}
            onConfirm={() => cancel.mutate()}
          >
            Running jobs are stopped, and waiting jobs do not start. Finished jobs keep their
            results, also in the cache.
          </ConfirmButton>
        ) : null}
      </div>
      {cancel.error === null ? null : (
        <p role="alert" className="problem">
          Not cancelled: {cancel.error.message}
        </p>
      )}
      <div className="row facts-line">
        <Copyable text={graph.commit} shown={graph.commit.slice(0, 10)} label="commit" />
        {graph.rev === graph.commit ? null : <span>{graph.rev}</span>}
        <span>{graph.author}</span>
        {graph.priority === 0 && !graph.top ? null : (
          <span>{graph.top ? "top class" : `priority ${graph.priority}`}</span>
        )}
        {graph.project === defaultProject ? null : (
          <span title="Its inputs, outputs, logs and results are read through this project">
            project {shownText(graph.project)}
          </span>
        )}
        {graph.parent === null ? null : (
          <Link to="/graphs/$id" params={{ id: graph.parent.id }}>
            {graph.parent.kind === "subgraph"
              ? `made by ${graph.parent.job}`
              : `${graph.parent.kind} of ${graph.parent.id.slice(0, 8)}`}
          </Link>
        )}
        <Link to="/sets/$id" params={{ id: graph.set }} title="Graphs that belong together">
          {graph.setName === null ? "set" : `set ${graph.setName}`}
        </Link>
        <span>
          <Ago time={graph.createdAt} />
        </span>
        <span title="From the planning of the graph to the end of its last job, without times in which no job was requested">
          <Elapsed from={graph.createdAt} to={graph.finishedAt} idleMs={graph.idleMs} />
        </span>
        <span>
          {graph.jobs} jobs{cached === 0 ? "" : `, ${cached} cached`}
          {stale === 0 ? "" : `, ${stale} stale`}
        </span>
        <span className="faint" title="The original definitions">
          definitions{" "}
          <Copyable
            text={graph.templates ?? graph.catalog}
            shown={(graph.templates ?? graph.catalog).slice(0, 8)}
            label="digest of the definitions"
          />
        </span>
        <span className="faint" title="The jobs that were made from the definitions">
          jobs{" "}
          <Copyable
            text={graph.catalog}
            shown={graph.catalog.slice(0, 8)}
            label="digest of the jobs"
          />
        </span>
      </div>
      <CountsBar counts={graph.counts} jobs={graph.jobs} />
    </header>
  );
}
