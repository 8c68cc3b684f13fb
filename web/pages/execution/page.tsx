import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import type { ExecutionDetail } from "#api/execution.ts";
import { Choice } from "../../parts/choice.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { durationText } from "../../parts/duration.ts";
import { useNow } from "../../parts/now.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { toolStateWords } from "../../parts/tool-state.tsx";
import { LogView } from "../log/log-view.tsx";
import { ExecutionHeader, nameOf, stateOf } from "./execution-header.tsx";
import { executionLogUrl, executionQuery } from "./load.ts";
import { OutputsList } from "./outputs-list.tsx";
import type { ExecutionSearch } from "./search.ts";
import { shellCommand } from "./shell-command.ts";
import { type Span, timeLine } from "./time-line.ts";
import { WhySizeClass } from "./why-size-class.tsx";
import "../invocation/invocation.css";
import "../job/job.css";
import "./execution.css";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

const FailureOfExecution = lazy(async () => ({
  default: (await import("../../parts/execution-failure.tsx")).FailureOfExecution,
}));

/** One execution of an action: its command, its progress, and its result. */
export function ExecutionPage() {
  const { id } = useParams({ from: "/executions/$id" });
  const search = useSearch({ from: "/executions/$id" });
  const navigate = useNavigate({ from: "/executions/$id" });
  const { data: execution } = useSuspenseQuery(executionQuery(id));
  const stream = search.stream ?? "stdout";
  usePageTitle(`${toolStateWords[stateOf(execution)]}: ${nameOf(execution)}`);
  const change = (next: ExecutionSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });

  return (
    <div className="execution-page">
      <ExecutionHeader execution={execution} />
      {stateOf(execution) === "failed" ? (
        <section className="what-failed" aria-label="What failed">
          <h2>What failed</h2>
          <Suspense>
            <FailureOfExecution execution={id}>
              <WhereItWasRequested execution={execution} />
            </FailureOfExecution>
          </Suspense>
        </section>
      ) : null}
      <div className="execution-body">
        <TimeLine execution={execution} />
        <Part title="Output">
          <Choice
            label="Which stream"
            options={["stdout", "stderr"] as const}
            chosen={stream}
            onChoose={(each) => change({ stream: each, line: undefined, find: undefined })}
          />
          <LogView
            key={stream}
            url={executionLogUrl(id, stream)}
            fileName={`${id}.${stream}`}
            line={search.line}
            find={search.find ?? ""}
            onLine={(line) => change({ line })}
            onFind={(find) => change({ find: find || undefined })}
          />
        </Part>
        <div className="beside">
          <Part title={`Outputs ${execution.outputs.length || ""}`}>
            <OutputsList
              project={execution.project}
              outputs={execution.outputs}
              more={execution.moreOutputs}
            />
          </Part>
          <Part title="Requested by">
            <Askers requestedBy={execution.requestedBy} job={execution.job} />
          </Part>
        </div>
        <WhySizeClass execution={execution} />
        <CommandPart execution={execution} />
        {execution.attempts.length < 2 &&
        execution.attempts[0]?.outcome === execution.outcome ? null : (
          <Attempts attempts={execution.attempts} />
        )}
      </div>
    </div>
  );
}

/** To retrigger a job or to see its build, one goes there. */
function WhereItWasRequested({ execution }: { execution: ExecutionDetail }) {
  const { job, requestedBy } = execution;
  if (job !== null) {
    return (
      <Link
        className="button"
        to="/graphs/$id/jobs/$name"
        params={{ id: job.graph, name: job.name }}
        search={{ run: job.run }}
      >
        Open job
      </Link>
    );
  }
  const [asker] = requestedBy;
  if (asker === undefined || asker.invocation === "") return null;
  return (
    <Link
      className="button"
      to="/invocations/$id"
      params={{ id: asker.invocation }}
      search={asker.project === "default" ? {} : { project: asker.project }}
    >
      Open build
    </Link>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const spanState: Readonly<Record<Span["name"], string>> = {
  queued: "is-queued",
  pulling: "is-blocked",
  starting: "is-ready",
  executing: "is-running",
};
const spanWords: Readonly<Record<Span["name"], string>> = {
  queued: "queued",
  pulling: "image pulled",
  starting: "inputs fetched",
  executing: "executed",
};

function TimeLine({ execution }: { execution: ExecutionDetail }) {
  return execution.state === "finished" ? (
    <TimeLineAt execution={execution} now={0} />
  ) : (
    <RunningTimeLine execution={execution} />
  );
}

function RunningTimeLine({ execution }: { execution: ExecutionDetail }) {
  return <TimeLineAt execution={execution} now={useNow()} />;
}

function TimeLineAt({ execution, now }: { execution: ExecutionDetail; now: number }) {
  const spans = timeLine(execution, now);
  return (
    <section className="time-line" aria-label="Time line">
      <div className="time-bar" aria-hidden="true">
        {spans.map(({ name, ms }) => (
          <span key={name} className={spanState[name]} style={{ flexGrow: Math.max(ms, 1) }} />
        ))}
      </div>
      <ul className="row facts-line">
        {spans.map(({ name, ms, isOpen }) => (
          <li key={name}>
            <span className={`key ${spanState[name]}`} aria-hidden="true" />
            {isOpen && name === "executing" ? "executing" : spanWords[name]}{" "}
            <span className="number">{durationText(ms)}</span>
          </li>
        ))}
        {execution.expectedDurationMs === null ? null : (
          <li>expected {durationText(execution.expectedDurationMs)}</li>
        )}
      </ul>
    </section>
  );
}

function Askers({ requestedBy, job }: Pick<ExecutionDetail, "requestedBy" | "job">) {
  if (requestedBy.length === 0 && job === null)
    return <p className="faint">A job of a graph that has been deleted.</p>;
  return (
    <ul className="askers">
      {job === null ? null : (
        <li>
          <Link
            to="/graphs/$id/jobs/$name"
            params={{ id: job.graph, name: job.name }}
            search={{ run: job.run }}
          >
            {shownText(job.name)}
          </Link>
          <span className="faint ellipsis">run {job.run}</span>
          <code>{job.commit.slice(0, 8)}</code>
        </li>
      )}
      {requestedBy.map(({ project, invocation, target, requestedAt }) => (
        <li key={`${project} ${invocation} ${requestedAt}`}>
          {invocation === "" ? (
            <span className="faint">a call without an invocation</span>
          ) : (
            <Link
              to="/invocations/$id"
              params={{ id: invocation }}
              search={project === "default" ? {} : { project }}
            >
              {shownText(invocation.slice(0, 13))}
            </Link>
          )}
          <span className="faint ellipsis">{shownText(target)}</span>
          <Ago time={requestedAt} />
        </li>
      ))}
    </ul>
  );
}

function CommandPart({ execution }: { execution: ExecutionDetail }) {
  const { command } = execution;
  if (command === null) {
    return (
      <Part title="Command">
        <p className="faint">Its blobs have been deleted.</p>
      </Part>
    );
  }
  const line = shellCommand(command);
  return (
    <Part title="Command">
      <Copyable text={line} shown="copy it for a shell" label="command" />
      <pre className="definition command">{command.arguments.join("\n")}</pre>
      <div className="beside">
        <Pairs title="Environment" pairs={command.environment} />
        <Pairs title="Platform" pairs={command.platform} />
      </div>
      {command.workingDirectory === "" ? null : (
        <p className="faint">in the directory {command.workingDirectory}</p>
      )}
    </Part>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: Readonly<Record<string, string>> }) {
  const entries = Object.entries(pairs);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {entries.length === 0 ? <p className="faint">None.</p> : null}
      <dl className="facts">
        {entries.map(([name, value]) => (
          <div key={name} className="pair">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Attempts({ attempts }: Pick<ExecutionDetail, "attempts">) {
  if (attempts.length === 0) return null;
  return (
    <Part title="Attempts">
      <ScrollableTable label="Table of attempts">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Worker</th>
              <th scope="col">Outcome</th>
              <th scope="col">Took</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map((attempt) => (
              <tr key={attempt.attempt}>
                <th scope="row">{attempt.attempt}</th>
                <td>{attempt.worker}</td>
                <td>{attempt.outcome.replaceAll("_", " ")}</td>
                <td>
                  {durationText(
                    Date.parse(attempt.finishedAt) -
                      Date.parse(attempt.startedAt ?? attempt.leasedAt),
                  )}
                </td>
                <td>{attempt.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
    </Part>
  );
}
