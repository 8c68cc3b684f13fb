import { Link } from "@tanstack/react-router";
import type { GranaryBuildSummary } from "#api/granary.ts";
import { durationText } from "../../parts/duration.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { hitsIn, requestedIn, resultsText, SourceBar } from "./source-bar.tsx";
import { shareText } from "./words.ts";

export function BuildList(props: {
  readonly builds: readonly GranaryBuildSummary[];
  readonly selected: number;
}) {
  return (
    <ol className="rows granary-builds">
      {props.builds.map((build, position) => (
        <BuildRow key={build.id} build={build} isSelected={position === props.selected} />
      ))}
    </ol>
  );
}

function BuildRow(props: { readonly build: GranaryBuildSummary; readonly isSelected: boolean }) {
  const { build, isSelected } = props;
  const { counts } = build;
  const requested = requestedIn(counts);
  return (
    <li className={isSelected ? "selected" : ""} aria-current={isSelected}>
      <span className="what">
        <Link className="main" to="/granary/builds/$id" params={{ id: build.id }}>
          {shownText(build.command) || "A build without a command"}
        </Link>
        <span className="faint">
          {shownText(build.machine)}
          {build.branch === "" ? "" : ` · ${shownText(build.branch)}`}
          {build.commit === null ? (
            " · no commit"
          ) : (
            <>
              {" · "}
              <Link to="/granary" search={{ commit: build.commit }} title="Only this commit">
                <code>{build.commit.slice(0, 8)}</code>
              </Link>
            </>
          )}
          {build.dirty ? " with changes" : ""}
          {build.exitCode === null || build.exitCode === 0 ? "" : ` · exit code ${build.exitCode}`}
        </span>
      </span>
      <SourceBar counts={counts} />
      <span className="number faint">
        {requested === 0
          ? "no requests"
          : `${shareText(hitsIn(counts), requested)} of ${resultsText(requested)}`}
      </span>
      <span
        className="number"
        title="The original execution time of all hits; the times of parallel steps are added"
      >
        {build.savedMs === 0 ? "" : `saved ${durationText(build.savedMs)} of work`}
      </span>
      <span className="number faint" title="The sum of all waits of the build for the granary">
        waited {durationText(build.waitedMs)}
      </span>
      <Elapsed from={build.startedAt} to={build.endedAt} />
      <Ago time={build.endedAt} />
    </li>
  );
}
