import { Link } from "@tanstack/react-router";
import type { Edge, JobDetail, Run } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import { bytesText } from "../../parts/bytes.ts";
import { Copyable } from "../../parts/copy.tsx";
import { ShareButton } from "../../parts/share-button.tsx";
import { StateIcon } from "../../parts/state.tsx";
import { WaitedFor } from "../graph/changes/waited-for.tsx";
import { outputUrl, runUrl, shareRun } from "./load.ts";

interface Props {
  readonly detail: JobDetail;
  readonly run: Run | undefined;
  readonly neighbours: JobPage["neighbours"];
}

/** What surrounds a job: its neighbours and its outputs. */
export function JobAside({ detail, run, neighbours }: Props) {
  const { graph, job } = detail;
  return (
    <aside className="job-aside">
      <Neighbours
        graphId={graph.id}
        neighbours={neighbours}
        title="Waits for"
        edges={detail.dependsOn}
        hasNotBegun={job.state === "blocked" || job.state === "unreachable"}
        isIncoming
      />
      <Neighbours
        graphId={graph.id}
        neighbours={neighbours}
        title="Waited for by"
        edges={detail.dependedOnBy}
        hasNotBegun={false}
        isIncoming={false}
      />
      {run === undefined || run.outputs.length === 0 ? null : (
        <section>
          <h2>Outputs</h2>
          <ul className="outputs">
            {run.outputs.map((output) => (
              <li key={output.path}>
                {output.kind === "file" ? (
                  <a href={outputUrl(graph.id, job.name, run.number, output.path)} download>
                    {output.path}
                  </a>
                ) : (
                  // Only files can be downloaded.
                  <span>
                    {output.path}
                    {output.kind === "directory" ? "/" : ""}
                  </span>
                )}
                <span className="number faint">
                  {output.sizeBytes === null ? output.kind : bytesText(output.sizeBytes)}
                </span>
                {output.kind === "file" ? (
                  <ShareButton
                    what={output.path}
                    make={(expiresInMs) =>
                      shareRun(graph.id, job.name, run.number, { path: output.path, expiresInMs })
                    }
                  />
                ) : null}
              </li>
            ))}
          </ul>
        </section>
      )}
      {run === undefined || run.finishedAt === null ? null : (
        <section>
          <h2>Manifest</h2>
          <a href={`${runUrl(graph.id, job.name, run.number)}/manifest`}>
            of run {run.number}, as JSON
          </a>
        </section>
      )}
      {run === undefined || run.actionDigest === "" ? null : (
        <section>
          <h2>Action</h2>
          <Copyable
            text={run.actionDigest}
            shown={`${run.actionDigest.slice(0, 16)}…`}
            label="action digest"
          />
        </section>
      )}
    </aside>
  );
}

interface NeighboursProps {
  readonly graphId: string;
  readonly neighbours: JobPage["neighbours"];
  readonly title: string;
  readonly edges: readonly Edge[];
  readonly hasNotBegun: boolean;
  /** Whether the job waits for these, or these wait for it. */
  readonly isIncoming: boolean;
}

const mostShown = 30;

function Neighbours({
  graphId,
  neighbours,
  title,
  edges,
  hasNotBegun,
  isIncoming,
}: NeighboursProps) {
  const states = new Map(neighbours.map(({ name, state }) => [name, state]));
  if (edges.length === 0) return null;
  return (
    <section>
      <h2>
        {title} <span className="faint number">{edges.length}</span>
      </h2>
      <ul className="neighbours">
        {edges.slice(0, mostShown).map((edge) => {
          const name = isIncoming ? edge.on : edge.job;
          const state = states.get(name);
          return (
            <li key={name}>
              {state === undefined ? null : <StateIcon state={state} />}
              <Link className="ellipsis" to="/graphs/$id/jobs/$name" params={{ id: graphId, name }}>
                {name}
              </Link>
              {isIncoming ? (
                <WaitedFor graphId={graphId} edge={edge} canStillGoOn={hasNotBegun} />
              ) : null}
            </li>
          );
        })}
      </ul>
      {edges.length > mostShown ? (
        <p className="faint">and {edges.length - mostShown} more</p>
      ) : null}
    </section>
  );
}
