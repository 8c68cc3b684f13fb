import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { InvocationDetail } from "#api/invocation.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { toolStateWords } from "../../parts/tool-state.tsx";
import { titleOf } from "../invocations/show-invocation.ts";
import { LogView } from "../log/log-view.tsx";
import { ActionsView } from "./actions-view.tsx";
import { InvocationHeader } from "./invocation-header.tsx";
import { invocationLogUrl, invocationQuery } from "./load.ts";
import { OptionsView } from "./options-view.tsx";
import { type InvocationSearch, type InvocationView, invocationViews } from "./search.ts";
import { TargetsView } from "./targets-view.tsx";
import { TimingView } from "./timing-view.tsx";
import "../job/job.css";
import "./invocation.css";

const CacheView = lazy(async () => ({ default: (await import("./cache-view.tsx")).CacheView }));
const FailedActions = lazy(async () => ({
  default: (await import("./failed-actions.tsx")).FailedActions,
}));

/** One invocation of a build tool: its requests, its build events, and its waiting reason. */
export function InvocationPage() {
  const { id } = useParams({ from: "/invocations/$id" });
  const search = useSearch({ from: "/invocations/$id" });
  const navigate = useNavigate({ from: "/invocations/$id" });
  const address = { id, project: search.project ?? "default" };
  const { data: invocation } = useSuspenseQuery(invocationQuery(address));
  usePageTitle(`${toolStateWords[invocation.state]}: ${titleOf(invocation)}`);

  const views = viewsOf(invocation);
  const view = search.view !== undefined && views.includes(search.view) ? search.view : views[0];
  const change = (next: InvocationSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const words: Readonly<Record<InvocationView, string>> = {
    actions: "Actions",
    targets: "Targets and tests",
    log: "Log",
    timing: "Timing",
    cache: "Cache",
    options: "Options",
  };

  const hasFailed = invocation.counts.failed > 0 && invocation.state !== "succeeded";
  return (
    <div className={hasFailed ? "job-page has-failed" : "job-page"}>
      <InvocationHeader invocation={invocation} />
      {hasFailed ? (
        <Suspense>
          <FailedActions invocation={invocation} />
        </Suspense>
      ) : null}
      <div className="job-tabs segments" role="group" aria-label="Views of the invocation">
        {views.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === view}
            onClick={() => change({ view: each, find: undefined, line: undefined })}
          >
            {words[each]}
          </button>
        ))}
      </div>
      <div className={`invocation-body view-${view}`}>
        {view === "targets" ? (
          <TargetsView invocation={invocation} />
        ) : view === "options" && invocation.events !== null ? (
          <OptionsView events={invocation.events} />
        ) : view === "log" ? (
          <LogView
            url={invocationLogUrl(address)}
            fileName={`${id}.log`}
            line={search.line}
            find={search.find ?? ""}
            onLine={(line) => change({ line })}
            onFind={(find) => change({ find: find || undefined })}
          />
        ) : view === "timing" ? (
          <TimingView invocation={invocation} />
        ) : view === "cache" ? (
          <Suspense>
            <CacheView invocation={invocation} />
          </Suspense>
        ) : (
          <ActionsView
            invocation={invocation}
            state={search.state}
            text={search.find ?? ""}
            isFolded={search.hits !== "shown"}
            onFold={(isFolded) => change({ hits: isFolded ? undefined : "shown" })}
            onState={(state) => change({ state })}
            onText={(find) => change({ find: find || undefined })}
          />
        )}
      </div>
    </div>
  );
}

/**
 * Only a tool that sends build events has reported options and output. The first one is shown at first: a build
 * that failed without a failed action opens on its targets.
 */
function viewsOf({ counts, events, state }: InvocationDetail): readonly InvocationView[] {
  if (events === null) return ["actions", "targets", "timing", "cache"];
  if (state !== "failed" || counts.failed > 0 || events.targets.length === 0)
    return invocationViews;
  return ["targets", ...invocationViews.filter((view) => view !== "targets")];
}
