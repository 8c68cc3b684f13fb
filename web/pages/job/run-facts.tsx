import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run, RunOutcome, RunServer } from "#api/graph.ts";
import { bytesText } from "../../parts/bytes.ts";
import { durationText } from "../../parts/duration.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { causes } from "./run-tabs.tsx";

const outcomes: Readonly<Record<RunOutcome, string>> = {
  succeeded: "succeeded",
  failed: "failed",
  timed_out: "took too long",
  out_of_memory: "ran out of memory",
  cancelled: "cancelled",
  worker_lost: "its worker was lost",
  infrastructure_error: "the farm had an error",
};

const servers: Readonly<Record<RunServer, string>> = {
  execution: "a worker",
  farm: "the server",
  outside: "another machine, which reports its result",
  items: "workers that share its items",
};

/** A run in one line of facts. */
export function RunFacts({ run }: { run: Run }) {
  const cpuMs = run.userMs === null ? null : run.userMs + (run.systemMs ?? 0);
  return (
    <section aria-label={`Run ${run.number}`}>
      {run.message === null ? null : <p className="run-message">{run.message}</p>}
      <dl className="run-facts">
        <Fact name="Outcome">
          {run.outcome === null ? run.state : outcomes[run.outcome]}
          {run.exitCode === null ? "" : `, exit ${run.exitCode}`}
        </Fact>
        {run.failureClass === null ? null : <Fact name="Failure">{run.failureClass}</Fact>}
        {run.cachedFrom === null ? null : (
          <Fact name="Cached from">
            <CachedFrom from={run.cachedFrom} />
          </Fact>
        )}
        <Fact name="Why">
          <span title={run.why ?? undefined}>{run.why ?? causes[run.cause]}</span>
        </Fact>
        {run.requestedBy === null ? null : <Fact name="Requested by">{run.requestedBy}</Fact>}
        <Fact name="Waited">
          <Elapsed from={run.readyAt ?? run.queuedAt} to={run.startedAt ?? run.finishedAt} />
        </Fact>
        {run.dueAt === null || run.finishedAt !== null ? null : (
          <Fact name="Continues at">
            <time dateTime={run.dueAt}>{new Date(run.dueAt).toLocaleString()}</time>
          </Fact>
        )}
        {run.startedAt === null ? null : (
          <Fact name="Ran">
            <Elapsed from={run.startedAt} to={run.finishedAt} />
          </Fact>
        )}
        {cpuMs === null ? null : (
          <Fact name="CPU">
            <span
              className="number"
              title={`user ${durationText(run.userMs ?? 0)}, system ${durationText(run.systemMs ?? 0)}`}
            >
              {durationText(cpuMs)}
            </span>
          </Fact>
        )}
        {run.peakMemoryBytes === null ? null : (
          <Fact name="Peak memory">
            <span className="number">{bytesText(run.peakMemoryBytes)}</span>
          </Fact>
        )}
        {run.worker === null ? null : (
          <Fact name="Worker">
            <Link to="/workers">{run.worker}</Link>
          </Fact>
        )}
        {run.executionId === null ? null : (
          <Fact name="Size class">
            <Link to="/executions/$id" params={{ id: run.executionId }}>
              how it was chosen
            </Link>
          </Fact>
        )}
        {run.servedBy === "execution" ? null : (
          <Fact name="Served by">{servers[run.servedBy]}</Fact>
        )}
        {run.attempt > 1 ? <Fact name="Attempt">{run.attempt}</Fact> : null}
        <Fact name="Queued">
          <Ago time={run.queuedAt} />
        </Fact>
      </dl>
    </section>
  );
}

function CachedFrom({ from }: { from: NonNullable<Run["cachedFrom"]> }) {
  return (
    <>
      {from.graphId === null || from.job === null ? (
        "an earlier build"
      ) : (
        <Link to="/graphs/$id/jobs/$name" params={{ id: from.graphId, name: from.job }}>
          the run that made it
        </Link>
      )}
      , <Ago time={from.at} />
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
