import { Link } from "@tanstack/react-router";
import type { JobDetail } from "#api/graph.ts";
import type { AuditRecord } from "#api/job-origin.ts";
import { Ago } from "../../parts/times.tsx";
import { Coalescing } from "./coalescing.tsx";

/** The origin of the job, the history of its graph, and people's actions on it. */
export function OriginView({ detail }: { readonly detail: JobDetail }) {
  const { graph, job, origin } = detail;
  const { parent, children } = origin.lineage;
  return (
    <div className="job-main job-reading">
      <h2>Its graph</h2>
      <p>
        Submitted by {graph.submittedBy} <Ago time={graph.createdAt} />
        {parent === null ? ", from definitions" : null}
        {parent === null ? null : (
          <>
            ,{" "}
            {parent.kind === "subgraph"
              ? `made by ${parent.job ?? "a job"} of`
              : `a ${parent.kind} of`}{" "}
            <OtherGraph id={parent.id} job={parent.kind === "subgraph" ? parent.job : job.name} />
          </>
        )}
        , catalog <code>{graph.catalog.slice(0, 8)}</code>, in the{" "}
        <Link to="/sets/$id" params={{ id: graph.set }}>
          set of its graphs
        </Link>
        .
      </p>
      <h2>Results</h2>
      {children.length === 0 ? (
        <p className="faint">No clones, searches or further graphs.</p>
      ) : null}
      <ul>
        {children.map((child) => (
          <li key={child.id}>
            {child.kind}
            {child.job === null ? "" : ` of ${child.job}`} <OtherGraph id={child.id} job={null} />{" "}
            <span className="faint">
              {child.state}, <Ago time={child.createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <Coalescing graphId={graph.id} job={job} />
      <h2>Manual actions</h2>
      {origin.audit.length === 0 ? <p className="faint">There were none.</p> : null}
      <ol className="audit">
        {origin.audit.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </ol>
    </div>
  );
}

function OtherGraph({ id, job }: { readonly id: string; readonly job: string | null }) {
  return job === null ? (
    <Link to="/graphs/$id" params={{ id }}>
      graph {id.slice(0, 8)}
    </Link>
  ) : (
    <Link to="/graphs/$id/jobs/$name" params={{ id, name: job }}>
      {job} in graph {id.slice(0, 8)}
    </Link>
  );
}

function Entry({ entry }: { readonly entry: AuditRecord }) {
  const detail = JSON.stringify(entry.detail);
  return (
    <li>
      <Ago time={entry.at} /> <strong>{entry.actor}</strong> {entry.verb}{" "}
      {entry.reason === null ? null : <q>{entry.reason}</q>}{" "}
      {detail === "{}" ? null : <code className="faint">{detail}</code>}
    </li>
  );
}
