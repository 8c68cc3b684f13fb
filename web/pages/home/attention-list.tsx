import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AttentionItem } from "#api/overview.ts";
import { bytesText } from "../../parts/bytes.ts";
import { numberText } from "../../parts/number-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Ago } from "../../parts/times.tsx";

/** What needs attention, each with a link to where one can act. */
export function AttentionList({ items }: { items: readonly AttentionItem[] }) {
  if (items.length === 0) return <p className="faint">Nothing needs attention.</p>;
  return (
    <ul className="rows attention">
      {items.map((item) => (
        <li key={keyOf(item)}>
          <StateIcon state={item.kind === "waiting graph" ? "waiting" : "failed"} silent />
          <Item item={item} />
        </li>
      ))}
    </ul>
  );
}

function keyOf(item: AttentionItem): string {
  switch (item.kind) {
    case "failed graph":
    case "waiting graph":
      return `${item.kind} ${item.graph.id}`;
    case "failed build":
      return `${item.kind} ${item.project} ${item.invocation}`;
    case "failed benchmark":
      return `${item.kind} ${item.request}`;
    case "lost worker":
    case "worker in trouble":
    case "quarantined worker":
      return `${item.kind} ${item.worker}`;
    case "executions without a worker":
      return `${item.kind} ${item.first}`;
    case "benchmark alarm":
      return item.alarm;
    case "quarantined results":
    case "full store":
    case "corrupt blobs":
      return item.kind;
  }
}

function Item({ item }: { item: AttentionItem }) {
  switch (item.kind) {
    case "failed graph":
      return <FailedGraph item={item} />;
    case "failed build":
      return <FailedBuild item={item} />;
    case "failed benchmark":
      return (
        <Sentence
          more={
            <>
              suite {item.suite} · <Ago time={item.at} />
            </>
          }
        >
          <Link className="main" to="/benchmarks/requests/$id" params={{ id: item.request }}>
            Measurement of {shownText(item.artifact)}
          </Link>{" "}
          ended with {counted(item.errors, "error", "errors")}
        </Sentence>
      );
    case "waiting graph":
      return (
        <Sentence more={item.graph.repository}>
          <Link className="main" to="/graphs/$id" params={{ id: item.graph.id }}>
            {item.graph.subject}
          </Link>
          : {counted(item.jobs, "job waits", "jobs wait")} for a person or for a time
        </Sentence>
      );
    case "executions without a worker":
      return (
        <Sentence more={item.reason}>
          <Link to="/executions/$id" params={{ id: item.first }}>
            {counted(item.count, "execution waits", "executions wait")}
          </Link>{" "}
          for a worker that does not exist
        </Sentence>
      );
    case "lost worker":
      return (
        <Sentence
          more={
            <>
              last heard <Ago time={item.lastSeenAt} />
            </>
          }
        >
          <Link to="/workers">Worker {item.worker}</Link> is lost
        </Sentence>
      );
    case "worker in trouble":
      return (
        <Sentence more={item.reason}>
          <Link to="/workers">Worker {item.worker}</Link> cannot run anything
        </Sentence>
      );
    case "quarantined worker":
      return (
        <Sentence more={item.reason}>
          <Link to="/workers">Worker {item.worker}</Link> is in quarantine
        </Sentence>
      );
    case "quarantined results":
      return (
        <Sentence more="Two machines produced different results for the same action.">
          <Link to="/granary/quarantine">
            {counted(item.results, "cached result is", "cached results are")} in quarantine
          </Link>
        </Sentence>
      );
    case "full store":
      return (
        <Sentence more="Raise the limit, or shorten the retention of graphs.">
          <Link to="/retention">The blob store</Link> is {bytesText(item.overBytes)} over its limit
          of {bytesText(item.limitBytes)}
        </Sentence>
      );
    case "corrupt blobs":
      return (
        <Sentence more="Builds make them again; check the disk of the server.">
          {counted(item.blobs, "blob was corrupt and was", "blobs were corrupt and were")} removed{" "}
          <Ago time={item.at} />
        </Sentence>
      );
    case "benchmark alarm":
      return (
        <Sentence more={item.alarm}>
          <Link to="/benchmarks">Benchmarks</Link>
        </Sentence>
      );
  }
}

function FailedGraph({ item }: { item: AttentionItem & { kind: "failed graph" } }) {
  const { graph, failedJobs, isYours } = item;
  const others = (graph.counts.failed ?? 0) - failedJobs.length;
  return (
    <Sentence
      more={
        <>
          {graph.repository} · {graph.branch} · <code>{graph.commit.slice(0, 8)}</code> ·{" "}
          {isYours ? "yours" : graph.author} · <Ago time={graph.finishedAt ?? graph.createdAt} />
        </>
      }
    >
      <Link className="main" to="/graphs/$id" params={{ id: graph.id }}>
        {graph.subject}
      </Link>{" "}
      failed
      {failedJobs.length === 0 ? null : " in "}
      {failedJobs.map((job, index) => (
        <span key={job}>
          {index === 0 ? null : ", "}
          <Link to="/graphs/$id/jobs/$name" params={{ id: graph.id, name: job }}>
            {job}
          </Link>
        </span>
      ))}
      {others > 0 ? ` and ${counted(others, "other job", "other jobs")}` : null}
    </Sentence>
  );
}

function FailedBuild({ item }: { item: AttentionItem & { kind: "failed build" } }) {
  const { failedActions, project, title, invocation } = item;
  return (
    <Sentence
      more={
        <>
          {project === "default" ? null : `${project} · `}
          {item.isYours ? "yours" : shownText(item.principal)} · <Ago time={item.at} />
        </>
      }
    >
      <Link
        className="main"
        to="/invocations/$id"
        params={{ id: invocation }}
        search={project === "default" ? {} : { project }}
      >
        {shownText(title)}
      </Link>{" "}
      failed
      {failedActions.length === 0 ? null : " in "}
      {failedActions.map(({ executionId, mnemonic, target }, index) => (
        <span key={executionId}>
          {index === 0 ? null : ", "}
          <Link to="/executions/$id" params={{ id: executionId }}>
            {shownText(target === "" ? mnemonic || "an action" : target)}
          </Link>
        </span>
      ))}
    </Sentence>
  );
}

function Sentence({ children, more }: { children: ReactNode; more: ReactNode }) {
  return (
    <span className="what">
      <span>{children}</span>
      <span className="faint">{more}</span>
    </span>
  );
}

function counted(count: number, one: string, many: string): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
