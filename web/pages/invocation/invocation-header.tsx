import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { invocationEndpoints } from "#api/endpoints/invocation-endpoints.ts";
import type { InvocationDetail } from "#api/invocation.ts";
import { call } from "../../farm/ask.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { shownLines, shownText } from "../../parts/shown-text.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { ActionCountsBar, countsText, ToolStateBadge } from "../../parts/tool-state.tsx";
import { askerOf, titleOf } from "../invocations/show-invocation.ts";
import { graphsOfCommitQuery, invocationInput, invocationQuery } from "./load.ts";

export function InvocationHeader({ invocation }: { invocation: InvocationDetail }) {
  const { build, counts, events, id, project, state, tool } = invocation;
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => call(invocationEndpoints.cancelInvocation, invocationInput(invocation)),
    onSuccess: (detail) => client.setQueryData(invocationQuery(invocation).queryKey, detail),
  });
  const isOpen = state === "running" || counts.queued + counts.executing > 0;
  return (
    <header className="page-header">
      {project === "default" ? null : (
        <Crumbs>
          <Link to="/invocations" search={{ project }}>
            {project}
          </Link>
        </Crumbs>
      )}
      <div className="row job-title">
        <ToolStateBadge state={state} />
        <h1>{titleOf(invocation)}</h1>
        <span className="grow" />
        {isOpen ? (
          <ConfirmButton
            label="Cancel…"
            question="Cancel this invocation?"
            confirm="Cancel the invocation"
            busy={cancel.isPending}
            onConfirm={() => cancel.mutate()}
          >
            The farm cancels its queued and running actions, except those that another invocation
            also waits for, and refuses its further requests. The tool then ends by itself.
          </ConfirmButton>
        ) : null}
      </div>
      {cancel.error === null ? null : (
        <p role="alert" className="problem">
          Not cancelled: {cancel.error.message}
        </p>
      )}
      <div className="row facts-line">
        <span>{askerOf(invocation)}</span>
        {tool.version === "" ? null : <span>{shownText(`${tool.name} ${tool.version}`)}</span>}
        {build?.branch ? <span>{shownText(build.branch)}</span> : null}
        {build?.commit ? (
          <>
            <Copyable text={build.commit} shown={build.commit.slice(0, 10)} label="commit" />
            <Link to="/invocations" search={{ commit: build.commit }}>
              all of this commit
            </Link>
            <GraphOfCommit repository={build.repository} commit={build.commit} />
          </>
        ) : null}
        <span>
          <Ago time={invocation.startedAt} />
        </span>
        <Elapsed from={invocation.startedAt} to={state === "running" ? null : invocation.endedAt} />
        {build?.exitName ? (
          <span>
            {shownText(build.exitName).toLowerCase().replaceAll("_", " ")}
            {build.exitCode === null ? "" : `, exit ${build.exitCode}`}
          </span>
        ) : null}
        <Copyable text={id} shown={shownText(id.slice(0, 8))} label="the tool's own id" />
        {events !== null && !events.complete && state !== "running" ? (
          <span title="The tool disconnected before it had sent all events">
            build events incomplete
          </span>
        ) : null}
        {events !== null && events.unreadableEvents > 0 ? (
          <span title="The farm accepted them, so that the tool could continue, but cannot show them">
            {events.unreadableEvents} unreadable{" "}
            {events.unreadableEvents === 1 ? "build event" : "build events"}
          </span>
        ) : null}
      </div>
      {invocation.waiting === null ? null : (
        <p className="waiting" aria-live="polite">
          {shownText(invocation.waiting)}
        </p>
      )}
      {events?.failure ? <p className="problem">{shownLines(events.failure)}</p> : null}
      <div className="row counts-line">
        <ActionCountsBar counts={counts} />
        <span className="faint number">{countsText(counts) || "no actions yet"}</span>
      </div>
    </header>
  );
}

/** The newest graph of the commit, if the farm has created one. */
function GraphOfCommit(props: { readonly repository: string | null; readonly commit: string }) {
  const { data } = useQuery(graphsOfCommitQuery(props.repository, props.commit));
  const [graph] = data ?? [];
  if (graph === undefined) return null;
  return (
    <Link to="/graphs/$id" params={{ id: graph.id }}>
      its graph: {graph.subject}
    </Link>
  );
}
