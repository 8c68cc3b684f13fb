import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { InvocationSummary } from "#api/invocation.ts";
import { Copyable } from "../../parts/copy.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { ActionCountsBar, actionsIn, ToolStateIcon } from "../../parts/tool-state.tsx";
import { invocationsQuery } from "./load.ts";
import type { InvocationsSearch } from "./search.ts";
import { askerOf, isFound, titleOf } from "./show-invocation.ts";
import "./invocations.css";
import { numberText } from "../../parts/number-text.ts";

export function InvocationsPage() {
  const search = useSearch({ from: "/invocations" });
  const navigate = useNavigate({ from: "/invocations" });
  const query = invocationsQuery(search);
  const pages = useSuspenseInfiniteQuery(query);
  const { data } = pages;
  const findBox = useRef<HTMLInputElement>(null);
  const projectBox = useRef<HTMLInputElement>(null);
  const [selected, setSelected] = useState(-1);
  usePageTitle("Invocations");

  const all = data.pages.flatMap((page) => page.invocations);
  const shown = all.filter((invocation) => isFound(invocation, search.find ?? ""));
  const change = (next: InvocationsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const chosen = shown[selected];
  useHotkeys({
    "/": () => findBox.current?.focus(),
    j: () => setSelected(Math.min(selected + 1, shown.length - 1)),
    k: () => setSelected(Math.max(selected - 1, 0)),
    Enter:
      chosen === undefined
        ? undefined
        : () => void navigate({ to: "/invocations/$id", ...addressOf(chosen) }),
  });

  const isNarrowed = search.project !== undefined || search.commit !== undefined;
  if (all.length === 0 && !isNarrowed) {
    return (
      <EmptyState heading="h1" title="No invocations yet">
        This page lists each run of Bazel, recc or another build tool that uses this farm.{" "}
        <Link to="/connect">Connect your tool</Link>, and build something.
      </EmptyState>
    );
  }
  return (
    <div className="page">
      <div className="row list-head">
        <h1>Invocations</h1>
        <span className="grow" />
        <SearchBox
          label="Project"
          placeholder="Project"
          value={search.project ?? ""}
          box={projectBox}
          onChange={(project) => change({ project: project || undefined })}
        />
        <SearchBox
          label="Filter by text"
          placeholder="Filter   /"
          value={search.find ?? ""}
          box={findBox}
          onChange={(find) => change({ find: find || undefined })}
        />
      </div>
      {search.commit === undefined ? null : (
        <p className="narrowed">
          Only those of commit{" "}
          <Copyable text={search.commit} shown={search.commit.slice(0, 10)} label="commit" />{" "}
          <button type="button" className="quiet" onClick={() => change({ commit: undefined })}>
            Show all
          </button>
        </p>
      )}
      {shown.length === 0 ? (
        <p className="faint center">
          {all.length === 0 ? "No invocation matches." : "None of the loaded invocations matches."}
        </p>
      ) : (
        <ol className="rows invocations">
          {shown.map((invocation, position) => (
            <InvocationRow
              key={`${invocation.project} ${invocation.id}`}
              invocation={invocation}
              isSelected={position === selected}
            />
          ))}
        </ol>
      )}
      <MoreButton pages={pages}>Load older invocations</MoreButton>
    </div>
  );
}

const addressOf = ({ id, project }: Pick<InvocationSummary, "id" | "project">) => ({
  params: { id },
  search: project === "default" ? {} : { project },
});

function InvocationRow(props: {
  readonly invocation: InvocationSummary;
  readonly isSelected: boolean;
}) {
  const { invocation, isSelected } = props;
  const { build, counts, project, state } = invocation;
  return (
    <li className={isSelected ? "selected" : ""} aria-current={isSelected}>
      <ToolStateIcon state={state} />
      <span className="what">
        <Link className="main" to="/invocations/$id" {...addressOf(invocation)}>
          {titleOf(invocation)}
        </Link>
        <span className="faint">
          {project === "default" ? "" : `${project} · `}
          {askerOf(invocation)}
          {build?.branch ? ` · ${shownText(build.branch)}` : ""}
          {build?.commit ? (
            <>
              {" · "}
              <Link to="/invocations" search={{ commit: build.commit }} title="Only this commit">
                <code>{shownText(build.commit.slice(0, 8))}</code>
              </Link>
            </>
          ) : null}
        </span>
      </span>
      <ActionCountsBar counts={counts} />
      <span className="number faint">
        {actionsIn(counts) === 1 ? "1 action" : `${numberText(actionsIn(counts))} actions`}
      </span>
      <Elapsed from={invocation.startedAt} to={state === "running" ? null : invocation.endedAt} />
      <Ago time={invocation.startedAt} />
    </li>
  );
}
