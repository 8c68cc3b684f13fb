import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { TargetInBuild } from "#api/invocation.ts";
import { durationText } from "../../parts/duration.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { ToolStateIcon } from "../../parts/tool-state.tsx";
import { targetHistoryQuery } from "./load.ts";

/** How a target went in the newest builds. It is read when a person opens it. */
export function TargetHistory({
  project,
  label,
}: {
  readonly project: string;
  readonly label: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="target-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>history</summary>
      {isOpen ? <Builds project={project} label={label} /> : null}
    </details>
  );
}

function Builds({ project, label }: { readonly project: string; readonly label: string }) {
  const { data, error } = useQuery(targetHistoryQuery(project, label));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The history could not be loaded: {error.message}
      </p>
    );
  }
  if (data === undefined) return <p className="faint">Loading…</p>;
  return (
    <ol className="target-history" aria-label={`History of ${shownText(label)}`}>
      {data.builds.map((build) => (
        <li key={build.invocation}>
          <ToolStateIcon state={stateIn(build)} />
          <Link
            to="/invocations/$id"
            params={{ id: build.invocation }}
            search={{ view: "targets", ...(project === "default" ? {} : { project }) }}
          >
            {shownText(build.commit?.slice(0, 8) ?? build.invocation.slice(0, 8))}
          </Link>
          <span className="faint">{shownText(build.branch ?? "")}</span>
          <span className="faint">
            {build.testStatus === null
              ? ""
              : shownText(build.testStatus.toLowerCase().replaceAll("_", " "))}
          </span>
          <span className="number">
            {build.durationMs === null ? "" : durationText(build.durationMs)}
          </span>
          <Ago time={build.at} />
        </li>
      ))}
    </ol>
  );
}

function stateIn({ success, testStatus }: TargetInBuild) {
  if (success === null) return "cancelled";
  const isGood = testStatus === null || testStatus === "PASSED" || testStatus === "FLAKY";
  return success && isGood ? "succeeded" : "failed";
}
