import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { GranaryBuildReport } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { Copyable } from "../../parts/copy.tsx";
import { durationText } from "../../parts/duration.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { GranaryHead } from "../granary/granary-head.tsx";
import { buildQuery } from "../granary/load.ts";
import { hitsIn, requestedIn, SourceBar, SourceLegend } from "../granary/source-bar.tsx";
import { countText, shareText } from "../granary/words.ts";
import { DemandPlot } from "./demand-plot.tsx";
import { RequestedList } from "./requested-list.tsx";
import { UsedIndexes } from "./used-indexes.tsx";
import "../times/times.css";
import "../granary/granary.css";
import { numberText } from "../../parts/number-text.ts";

/** The sources of one build's results, and why it had to wait for some. */
export function GranaryBuildPage() {
  const { id } = useParams({ from: "/granary/builds/$id" });
  const { data: build } = useSuspenseQuery(buildQuery(id));
  const command = shownText(build.command) || "A build without a command";
  usePageTitle(command, "Granary");
  return (
    <div className="page granary-page">
      <GranaryHead
        title={command}
        project={build.project === "default" ? undefined : build.project}
      >
        <ExitCode code={build.exitCode} />
      </GranaryHead>
      <Facts build={build} />
      <SourceBar counts={build.counts} />
      <SourceLegend />
      <Figures build={build} />
      <UsedIndexes build={build} />
      <section aria-labelledby="demand">
        <h2 id="demand">Its requests, and when results arrived</h2>
        <DemandPlot build={build} />
        <RequestedList build={build} />
      </section>
    </div>
  );
}

function ExitCode({ code }: { readonly code: number | null }) {
  if (code === null) return <span className="faint">its result is not known</span>;
  return (
    <span className={`badge ${code === 0 ? "is-succeeded" : "is-failed"}`}>exit code {code}</span>
  );
}

function Facts({ build }: { readonly build: GranaryBuildReport }) {
  return (
    <p className="row facts-line">
      <span>
        {build.commit === null ? (
          "no commit"
        ) : (
          <>
            commit <Copyable text={build.commit} shown={build.commit.slice(0, 10)} label="commit" />
          </>
        )}
        {build.branch === "" ? "" : ` on ${shownText(build.branch)}`}
        {build.dirty ? ", with changes: its requests are not in the commit's index" : ""}
      </span>
      <span>on {shownText(build.machine)}</span>
      <span>
        environment <code>{build.environment.slice(0, 12)}</code>
      </span>
      {build.repository === "" ? null : <span>{shownText(build.repository)}</span>}
      <span>
        took <Elapsed from={build.startedAt} to={build.endedAt} />, ended{" "}
        <Ago time={build.endedAt} />
      </span>
    </p>
  );
}

function Figures({ build }: { readonly build: GranaryBuildReport }) {
  const { bytes, counts, lead } = build;
  const requested = requestedIn(counts);
  const facts: readonly (readonly [string, string])[] = [
    ["Requests", countText(requested, "result")],
    ["Hits", `${numberText(hitsIn(counts))}, ${shareText(hitsIn(counts), requested)}`],
    [
      "Work saved",
      `${durationText(build.savedMs)}, as far as known; the times of parallel steps are added`,
    ],
    ["Waited", `${durationText(build.waitedMs)}, the sum of all waits`],
    [
      "Prefetched",
      `${bytesText(bytes.transferred)}, of which ${bytesText(bytes.wasted)} unused (${shareText(bytes.wasted, bytes.transferred)})`,
    ],
    ["Fetched late", bytesText(bytes.fetched)],
    ["Uploaded while it ran", bytesText(bytes.uploaded)],
    [
      "How early",
      lead === null
        ? "–"
        : `${durationText(lead.medianMs)} before the request (median), at least ${durationText(lead.leastMs)}`,
    ],
  ];
  return (
    <dl className="facts granary-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
