import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { TargetInBuild } from "#api/invocation-targets.ts";
import { Crumbs } from "../../parts/crumbs.tsx";
import { durationText } from "../../parts/duration.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { ToolStateIcon, toolStateWords } from "../../parts/tool-state.tsx";
import { targetHistoryQuery } from "./load.ts";
import { sumUpBuilds } from "./sum-up-builds.ts";
import "../job/job.css";
import "./target.css";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** A target in the newest builds of its project. */
export function TargetPage() {
  const search = useSearch({ from: "/targets" });
  const { label = "", project = "default" } = search;
  const { data } = useSuspenseQuery(targetHistoryQuery(search));
  usePageTitle(label === "" ? "Target" : label);
  const { builds } = data;
  return (
    <div className="page target-page">
      {project === "default" ? null : (
        <Crumbs>
          <Link to="/invocations" search={{ project }}>
            {shownText(project)}
          </Link>
        </Crumbs>
      )}
      <h1>{label === "" ? "Target" : shownText(label)}</h1>
      {builds.length === 0 ? (
        <p className="faint">
          {label === ""
            ? "Choose a target on the page of an invocation, under Targets and tests."
            : "No stored build has this target: neither its build events nor its actions name it."}
        </p>
      ) : (
        <>
          <Facts builds={builds} project={project} />
          <Durations builds={builds} />
          <Builds builds={builds} project={project} />
        </>
      )}
    </div>
  );
}

interface Props {
  readonly builds: readonly TargetInBuild[];
  readonly project: string;
}

function Facts({ builds, project }: Props) {
  const { ended, failed, failsSince, flaky, medianMs } = sumUpBuilds(builds);
  return (
    <dl className="run-facts">
      <div>
        <dt>Builds</dt>
        <dd>{numberText(builds.length)}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd>
          {numberText(failed)} <span className="faint">of {numberText(ended)}</span>
        </dd>
      </div>
      <div>
        <dt>Flaky</dt>
        <dd>
          {numberText(flaky)} <span className="faint">of {numberText(ended)}</span>
        </dd>
      </div>
      {medianMs === undefined ? null : (
        <div>
          <dt>Median duration</dt>
          <dd>{durationText(medianMs)}</dd>
        </div>
      )}
      {failsSince === undefined ? null : (
        <div>
          <dt>Fails since</dt>
          <dd>
            <BuildLink build={failsSince} project={project} />{" "}
            <span className="faint">
              <Ago time={failsSince.at} />
            </span>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** A bar for each build, the oldest first: its height is the duration, its colour and shape the state. */
function Durations({ builds }: Pick<Props, "builds">) {
  const most = Math.max(1, ...builds.map(({ durationMs }) => durationMs ?? 0));
  return (
    <div className="target-bars" role="img" aria-label="Durations by build; the table has the same">
      {builds.toReversed().map((build) => (
        <span key={build.invocation} title={`${toolStateWords[build.state]}, ${tookText(build)}`}>
          <span
            className={`is-${build.state}`}
            style={{ height: `${Math.round((100 * (build.durationMs ?? 0)) / most)}%` }}
          />
          <ToolStateIcon state={build.state} silent />
        </span>
      ))}
    </div>
  );
}

function Builds({ builds, project }: Props) {
  return (
    <ScrollableTable label="Builds">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Build</th>
            <th scope="col">State</th>
            <th scope="col">Tests</th>
            <th scope="col">Branch</th>
            <th scope="col">Took</th>
            <th scope="col">Executed</th>
            <th scope="col">From the cache</th>
            <th scope="col">Began</th>
          </tr>
        </thead>
        <tbody>
          {builds.map((build) => (
            <tr key={build.invocation}>
              <th scope="row">
                <BuildLink build={build} project={project} />
              </th>
              <td>
                <ToolStateIcon state={build.state} silent /> {toolStateWords[build.state]}
              </td>
              <td>{shownText((build.testStatus ?? "").toLowerCase().replaceAll("_", " "))}</td>
              <td>{shownText(build.branch ?? "")}</td>
              <td>{build.durationMs === null ? "" : durationText(build.durationMs)}</td>
              <td>{numberText(build.executed)}</td>
              <td>{numberText(build.hits)}</td>
              <td>
                <Ago time={build.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

/** Leads to the targets of the build. A commit says more than the build tool's id. */
function BuildLink({
  build,
  project,
}: {
  readonly build: TargetInBuild;
  readonly project: string;
}) {
  return (
    <Link
      to="/invocations/$id"
      params={{ id: build.invocation }}
      search={{ view: "targets", ...(project === "default" ? {} : { project }) }}
    >
      {shownText((build.commit ?? build.invocation).slice(0, 8))}
    </Link>
  );
}

const tookText = ({ durationMs }: TargetInBuild) =>
  durationMs === null ? "all from the cache" : durationText(durationMs);
