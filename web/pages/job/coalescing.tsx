import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { searchEndpoints } from "#api/endpoints/search-endpoints.ts";
import type { JobSummary } from "#api/graph.ts";
import { call } from "../../farm/ask.ts";
import { StateIcon } from "../../parts/state.tsx";

/** The relation of a job to the same job of other commits. */
const coalescingQuery = (graph: string, job: string, version: number) =>
  queryOptions({
    queryKey: ["coalescing", graph, job, version],
    queryFn: ({ signal }) =>
      call(searchEndpoints.jobCoalescing, { params: { graph, job } }, signal),
  });

interface Props {
  readonly graphId: string;
  readonly job: JobSummary;
}

/** The job whose run stands for this one, and the jobs for which it stands; each of them can still be activated. */
export function Coalescing({ graphId, job }: Props) {
  const { data } = useQuery(coalescingQuery(graphId, job.name, job.version));
  if (data === undefined || (data.into === null && data.answersFor.length === 0)) return null;
  const { into, answersFor, bisect } = data;
  return (
    <section>
      <h2>Other commits</h2>
      {into === null ? null : (
        <p>
          The result of <OtherCommit {...into} /> counts for this job. If you activate this job, it
          runs itself.
        </p>
      )}
      {answersFor.length === 0 ? null : (
        <>
          <p>Its result counts for these older commits:</p>
          <ul>
            {answersFor.map((other) => (
              <li key={other.graphId}>
                <OtherCommit {...other} />
              </li>
            ))}
          </ul>
        </>
      )}
      {bisect === null ? null : (
        <Link
          to="/searches"
          search={{
            kind: "bisect",
            repository: bisect.repository,
            selection: bisect.selection,
            from: bisect.good,
            to: bisect.bad,
          }}
        >
          Bisect these commits…
        </Link>
      )}
    </section>
  );
}

function OtherCommit(props: {
  readonly graphId: string;
  readonly job: string;
  readonly commit: string;
  readonly subject: string;
  readonly state: JobSummary["state"];
}) {
  return (
    <>
      <StateIcon state={props.state} />{" "}
      <Link to="/graphs/$id/jobs/$name" params={{ id: props.graphId, name: props.job }}>
        {props.subject}
      </Link>{" "}
      <code className="faint">{props.commit.slice(0, 8)}</code>
    </>
  );
}
