import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GraphSummary, type Repository } from "#api/graph.ts";
import { apiBase } from "../../farm/ask.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { CountsBar } from "../../parts/counts-bar.tsx";
import { CustomisedMark } from "../../parts/customised-mark.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { repositoriesQuery } from "./load.ts";

export function RepositoriesPage() {
  const { data: repositories } = useSuspenseQuery(repositoriesQuery);
  const client = useQueryClient();
  const askAgain = () => void client.invalidateQueries(repositoriesQuery);
  usePageTitle("Repositories");
  useEventStream("events", {
    url: () => `${apiBase}/events`,
    onEvent: (data) => {
      const known = client.getQueryData(repositoriesQuery.queryKey) ?? [];
      const merged = mergeRepository(known, GraphSummary.parse(JSON.parse(data)));
      if (merged === undefined) askAgain();
      else client.setQueryData(repositoriesQuery.queryKey, merged);
    },
    onReconnected: askAgain,
  });

  if (repositories.length === 0) {
    return (
      <EmptyState heading="h1" title="No repositories yet" command="grange submit . --rev HEAD">
        Run this in a Git repository; it appears here with its first graph.
      </EmptyState>
    );
  }
  return (
    <div className="page">
      <h1>Repositories</h1>
      <ul className="rows repositories">
        {repositories.map((repository) => (
          <RepositoryRow key={repository.name} repository={repository} />
        ))}
      </ul>
    </div>
  );
}

function RepositoryRow({ repository }: { repository: Repository }) {
  const { latest } = repository;
  return (
    <li>
      {latest === null ? <span /> : <StateIcon state={latest.state} />}
      <span className="what">
        <Link className="main" to="/repositories/$name" params={{ name: repository.name }}>
          {repository.name}
        </Link>
        <span className="faint">
          {repository.graphs} {repository.graphs === 1 ? "graph" : "graphs"} · {repository.url}
        </span>
      </span>
      {latest === null ? null : (
        <>
          <span className="what">
            <Link to="/graphs/$id" params={{ id: latest.id }}>
              {latest.subject}
            </Link>
            <span className="faint">
              <code>{latest.commit.slice(0, 8)}</code> · {latest.author}
              <CustomisedMark customised={latest.customised} />
            </span>
          </span>
          <CountsBar counts={latest.counts} jobs={latest.jobs} />
          <Elapsed from={latest.createdAt} to={latest.finishedAt} idleMs={latest.idleMs} />
          <Ago time={latest.createdAt} />
        </>
      )}
    </li>
  );
}

/**
 * Returns the repositories after a change of a graph. Undefined when only the server can decide: the repository is
 * unknown, or the graph may be new.
 */
function mergeRepository(known: Repository[], heard: GraphSummary): Repository[] | undefined {
  const at = known.findIndex((repository) => repository.name === heard.repository);
  const repository = known[at];
  if (repository === undefined || repository.latest === null) return undefined;
  if (repository.latest.id !== heard.id) {
    return heard.createdAt > repository.latest.createdAt ? undefined : known;
  }
  return heard.version > repository.latest.version
    ? known.with(at, { ...repository, latest: heard })
    : known;
}
