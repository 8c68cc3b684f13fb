import { useMutation, useQueryClient, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { CommitRows } from "./commit-rows.tsx";
import { cancelSearch, searchQuery } from "./load.ts";
import { StandingsBar } from "./standings-bar.tsx";
import { Verdict } from "./verdict.tsx";

/** A backfill or a bisection, commit by commit. */
export function SearchPage() {
  const { id } = useParams({ from: "/searches/$id" });
  const query = searchQuery(id);
  const client = useQueryClient();
  const pages = useSuspenseInfiniteQuery(query);
  const { data } = pages;
  const [search] = data.pages;
  const cancel = useMutation({
    mutationFn: () => cancelSearch(id),
    onSettled: () => client.invalidateQueries(query),
  });
  const title = `${search?.kind === "bisect" ? "Bisect" : "Backfill"} ${search?.selection ?? ""}`;
  usePageTitle(title, search?.repository ?? "");
  if (search === undefined) return null;
  return (
    <div className="page search-page">
      <Crumbs>
        <Link to="/repositories/$name" params={{ name: search.repository }}>
          {search.repository}
        </Link>
      </Crumbs>
      <div className="row">
        <span className={`badge is-${search.state === "finished" ? "succeeded" : search.state}`}>
          {search.state}
        </span>
        <h1>{title}</h1>
        <span className="grow" />
        {search.state === "running" ? (
          <ConfirmButton
            label="Cancel…"
            question="Cancel this search?"
            confirm="Cancel the search"
            busy={cancel.isPending}
            onConfirm={() => cancel.mutate()}
          >
            The search requests no more commits. Jobs that it has requested continue.
          </ConfirmButton>
        ) : null}
      </div>
      <div className="row facts-line">
        <span>
          <code>{search.after.slice(0, 10)}</code> … <code>{search.last.slice(0, 10)}</code>
        </span>
        <span className="number">{search.commits} commits</span>
        {search.kind === "bisect" ? (
          <span>
            {search.parallel} at the same time, {search.sameResults} equal results
          </span>
        ) : (
          <span>every {search.step === 1 ? "commit" : `${search.step}th commit`}</span>
        )}
        <span>{search.startedBy}</span>
        <Ago time={search.createdAt} />
        <Elapsed from={search.createdAt} to={search.finishedAt} />
        {search.set === null ? null : (
          <Link to="/sets/$id" params={{ id: search.set }}>
            its graphs
          </Link>
        )}
        {search.reason === null ? null : <span>“{search.reason}”</span>}
      </div>
      <StandingsBar search={search} />
      <Verdict search={search} />
      {cancel.error === null ? null : (
        <p role="alert" className="problem">
          {cancel.error.message}
        </p>
      )}
      <CommitRows commits={data.pages.flatMap((page) => page.commitList)} />
      <MoreButton pages={pages}>Load older commits</MoreButton>
    </div>
  );
}
