import type { SearchForecast } from "#api/search.ts";
import { durationText } from "../../parts/duration.ts";

interface Props {
  readonly kind: "backfill" | "bisect";
  readonly forecast: SearchForecast;
}

/** The maximum work of a search, before it starts. */
export function Forecast({ kind, forecast }: Props) {
  const { probes, rounds, jobs, commitMs, workerMs } = forecast;
  const knowsTimes = forecast.unknownJobs < forecast.jobsPerCommit;
  return (
    <dl className="facts" aria-label="Forecast">
      <dt>Range</dt>
      <dd>
        <span className="number">{forecast.commits}</span> commits
        {forecast.known === 0 ? "" : `, ${forecast.known} with a known result`}
      </dd>
      <dt>{kind === "bisect" ? "Probes" : "Graphs"}</dt>
      <dd>
        at most <strong className="number">{probes}</strong>
        {rounds === null ? "" : `, in ${rounds} ${rounds === 1 ? "round" : "rounds"}`}
      </dd>
      <dt>Jobs</dt>
      <dd>
        <span className="number">{jobs}</span>, {forecast.jobsPerCommit} for each commit
      </dd>
      <dt>Time</dt>
      <dd>
        {knowsTimes
          ? [
              commitMs === 0
                ? ""
                : `about ${durationText(commitMs * (rounds ?? 1))}, if workers are free; `,
              `${durationText(workerMs)} of worker time`,
            ].join("")
          : "not known: these jobs have not succeeded before"}
      </dd>
      {forecast.cost === null ? null : (
        <>
          <dt>Cost</dt>
          <dd className="number">about {forecast.cost.toFixed(2)}</dd>
        </>
      )}
    </dl>
  );
}
