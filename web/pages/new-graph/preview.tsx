import { useMemo } from "react";
import type { GraphPreview, PreviewedJob } from "#api/preview.ts";
import { Copyable } from "../../parts/copy.tsx";
import { durationText } from "../../parts/duration.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { StateIcon } from "../../parts/state.tsx";

const mostShown = 500;

/** The jobs that would run, the cached results, and the cost. */
export function Preview({ preview }: { readonly preview: GraphPreview }) {
  const { jobs } = preview;
  const hits = jobs.filter((job) => job.hasResult === true).length;
  const inactive = jobs.filter((job) => job.state === "inactive").length;
  const needs = useMemo(() => {
    const byJob = new Map<string, string[]>();
    for (const { job, on } of preview.edges) byJob.set(job, [...(byJob.get(job) ?? []), on]);
    return byJob;
  }, [preview.edges]);
  return (
    <>
      <p className="row facts-line">
        <strong className="number">{jobs.length - inactive} jobs</strong>
        {inactive === 0 ? null : <span>{inactive} more inactive</span>}
        {hits === 0 ? null : <span>{hits} already have a result</span>}
        {preview.expectedMs === 0 ? (
          <span className="faint">duration not known: none of them has run before</span>
        ) : (
          <>
            <span>takes about {durationText(preview.criticalPathMs)}</span>
            <span>{durationText(preview.expectedMs)} of worker time</span>
          </>
        )}
        <span className="faint">
          definitions{" "}
          <Copyable text={preview.catalog} shown={preview.catalog.slice(0, 8)} label="catalog" />
        </span>
        {preview.commit === null ? (
          <span className="faint">there is no commit: select one to submit</span>
        ) : (
          <span className="faint">
            commit <code>{preview.commit.slice(0, 10)}</code>
          </span>
        )}
      </p>
      <ScrollableTable className="previewed" label="Planned jobs">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">job</th>
              <th scope="col">expected</th>
              <th scope="col">result</th>
              <th scope="col">needs</th>
            </tr>
          </thead>
          <tbody>
            {jobs.slice(0, mostShown).map((job) => (
              <Line key={job.name} job={job} needs={needs.get(job.name) ?? []} />
            ))}
          </tbody>
        </table>
        {jobs.length > mostShown ? (
          <p className="faint">and {jobs.length - mostShown} more; select fewer jobs to see them</p>
        ) : null}
      </ScrollableTable>
    </>
  );
}

function Line({ job, needs }: { readonly job: PreviewedJob; readonly needs: readonly string[] }) {
  return (
    <tr>
      <th scope="row">
        <StateIcon state={job.state} /> {job.name}
        {job.kind === "command" ? null : <span className="faint"> {job.kind}</span>}
      </th>
      <td>{job.expectedMs === null ? "–" : durationText(job.expectedMs)}</td>
      <td>{job.hasResult === true ? "in the cache" : job.hasResult === false ? "to run" : "–"}</td>
      <td className="faint">
        {needs.length > 3
          ? `${needs.slice(0, 3).join(", ")} +${needs.length - 3}`
          : needs.join(", ")}
      </td>
    </tr>
  );
}
