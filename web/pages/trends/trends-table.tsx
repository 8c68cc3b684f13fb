import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import type { JobTrend, JobTrends } from "#api/job-trends.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { PeriodBars } from "../../parts/period-bars.tsx";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { countText, shareText } from "../../parts/share-text.ts";
import { shownText } from "../../parts/shown-text.ts";

type Bucket = JobTrends["buckets"][number];

/** A row for each job, with small charts of failures and durations; a click shows the numbers as a table. */
export function TrendsTable({ trends }: { readonly trends: JobTrends }) {
  const [open, setOpen] = useState<string>();
  const { jobs, buckets } = trends;
  return (
    <ScrollableTable label="Table of jobs">
      <table className="figures trends">
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Runs</th>
            <th scope="col">Failed</th>
            <th scope="col" className="over-time">
              Rate of failure over time
            </th>
            <th scope="col">Median</th>
            <th scope="col" className="over-time">
              Median duration over time
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <Fragment key={job.name}>
              <tr>
                <th scope="row">
                  <button
                    type="button"
                    className="quiet"
                    aria-expanded={open === job.name}
                    onClick={() => setOpen(open === job.name ? undefined : job.name)}
                  >
                    {shownText(job.name)}
                  </button>
                </th>
                <td>{numberText(job.runs)}</td>
                <td>{shareText(job.failures, job.runs)}</td>
                <td className="over-time">
                  <FailureBars job={job} buckets={buckets} />
                </td>
                <td>{job.medianMs === null ? "–" : durationText(job.medianMs)}</td>
                <td className="over-time">
                  <DurationBars job={job} buckets={buckets} />
                </td>
              </tr>
              {open === job.name ? (
                <tr>
                  <td colSpan={6} className="points">
                    <PointsTable job={job} trends={trends} />
                  </td>
                </tr>
              ) : null}
            </Fragment>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

interface BarsProps {
  readonly job: JobTrend;
  readonly buckets: readonly Bucket[];
}

function FailureBars({ job, buckets }: BarsProps) {
  const points = new Map(job.points.map((point) => [point.bucket, point]));
  return (
    <PeriodBars
      kind="bad"
      label={`Failures: ${numberText(job.failures)} of ${countText(job.runs, "run")}, in ${countText(job.points.filter(({ failures }) => failures > 0).length, "period")} of ${buckets.length}`}
      bars={buckets.map((bucket, n) => {
        const { runs, failures } = points.get(n) ?? { runs: 0, failures: 0 };
        return {
          key: keyOf(bucket),
          height: failures === 0 ? null : failures / runs,
          title: `${nameOf(bucket)}: ${failures} of ${countText(runs, "run")} failed`,
        };
      })}
    />
  );
}

function DurationBars({ job, buckets }: BarsProps) {
  const points = new Map(job.points.map((point) => [point.bucket, point]));
  const medians = job.points.flatMap(({ medianMs }) => medianMs ?? []);
  const most = Math.max(1, ...medians);
  return (
    <PeriodBars
      kind="plain"
      label={
        medians.length === 0
          ? "No run succeeded"
          : `Median durations from ${durationText(Math.min(...medians))} to ${durationText(most)}, the last one ${durationText(medians.at(-1) ?? 0)}`
      }
      bars={buckets.map((bucket, n) => {
        const medianMs = points.get(n)?.medianMs ?? null;
        return {
          key: keyOf(bucket),
          height: medianMs === null ? null : medianMs / most,
          title: `${nameOf(bucket)}: ${medianMs === null ? "no run succeeded" : durationText(medianMs)}`,
        };
      })}
    />
  );
}

function PointsTable({ job, trends }: { readonly job: JobTrend; readonly trends: JobTrends }) {
  return (
    <table className="figures" aria-label={`${job.name} over time`}>
      <thead>
        <tr>
          <th scope="col">{trends.by === "week" ? "Week from (UTC)" : "Commit"}</th>
          <th scope="col">Runs</th>
          <th scope="col">Failed</th>
          <th scope="col">Median duration</th>
        </tr>
      </thead>
      <tbody>
        {job.points.toReversed().map(({ bucket: at, runs, failures, medianMs }) => {
          const bucket = trends.buckets[at];
          if (bucket === undefined) return null;
          return (
            <tr key={at}>
              <th scope="row">
                {bucket.graph === null ? (
                  nameOf(bucket)
                ) : (
                  <Link
                    to="/graphs/$id/jobs/$name"
                    params={{ id: bucket.graph.id, name: job.name }}
                  >
                    {nameOf(bucket)}
                  </Link>
                )}
              </th>
              <td>{numberText(runs)}</td>
              <td>{numberText(failures)}</td>
              <td>{medianMs === null ? "–" : durationText(medianMs)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function keyOf({ at, graph }: Bucket): string {
  return graph?.id ?? at;
}

/** A week by its Monday; a graph by its commit and day. */
function nameOf({ at, graph }: Bucket): string {
  return graph === null ? at.slice(0, 10) : `${graph.commit.slice(0, 8)} (${at.slice(0, 10)})`;
}
