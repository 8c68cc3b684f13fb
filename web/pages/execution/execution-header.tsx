import { Link } from "@tanstack/react-router";
import type { ExecutionDetail } from "#api/execution.ts";
import type { InvocationActionState } from "#api/invocation.ts";
import { bytesText } from "../../parts/bytes.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { durationText } from "../../parts/duration.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { ToolStateBadge } from "../../parts/tool-state.tsx";

export function stateOf({ state, outcome }: ExecutionDetail): InvocationActionState {
  if (state === "queued") return "queued";
  if (state === "leased") return "executing";
  return outcome === "succeeded" || outcome === "cancelled" ? outcome : "failed";
}

/** Returns its purpose: the job that it served, or from the latest request `CppCompile //lib:lib`. */
export function nameOf({ job, requestedBy, actionDigest }: ExecutionDetail): string {
  if (job !== null) return shownText(job.name);
  const [asker] = requestedBy;
  const named = [asker?.mnemonic ?? "", asker?.target ?? ""].filter((word) => word !== "");
  return named.length === 0 ? `Action ${actionDigest.slice(0, 12)}` : shownText(named.join(" "));
}

export function ExecutionHeader({ execution }: { execution: ExecutionDetail }) {
  const { job, requestedBy, exitCode, outcome, usage, waiting, worker, image, persistentRequest } =
    execution;
  const [asker] = requestedBy;
  return (
    <header className="page-header">
      {job === null && (asker === undefined || asker.invocation === "") ? null : (
        <Crumbs>
          {job === null ? null : (
            <Link to="/graphs/$id" params={{ id: job.graph }} search={{ job: job.name }}>
              commit {job.commit.slice(0, 8)}
            </Link>
          )}
          {asker === undefined || asker.invocation === "" ? null : (
            <>
              {job === null ? null : " / "}
              <Link
                to="/invocations/$id"
                params={{ id: asker.invocation }}
                search={asker.project === "default" ? {} : { project: asker.project }}
              >
                {shownText(asker.invocation.slice(0, 8))}
              </Link>
            </>
          )}
        </Crumbs>
      )}
      <div className="row job-title">
        <ToolStateBadge state={stateOf(execution)} />
        <h1>{nameOf(execution)}</h1>
      </div>
      <div className="row facts-line">
        {outcome === null ? null : (
          <span>
            {outcome.replaceAll("_", " ")}
            {exitCode === null ? "" : `, exit ${exitCode}`}
          </span>
        )}
        {worker === null ? null : (
          <span>
            on <Link to="/workers">{worker}</Link>
          </span>
        )}
        <span>
          requested <Ago time={execution.queuedAt} />
        </span>
        {usage === null ? null : (
          <>
            <span title={`user ${durationText(usage.userMs)}, by ${usage.measuredBy}`}>
              CPU {durationText(usage.userMs + usage.systemMs)}
            </span>
            <span>peak memory {bytesText(usage.peakMemoryBytes)}</span>
          </>
        )}
        {persistentRequest === 0 ? null : (
          <span title="One process of its tool served it and other actions: it has no usage of its own">
            by a persistent worker, request {persistentRequest}
          </span>
        )}
        {image === null ? null : (
          <Copyable
            text={image.digest}
            shown={`image ${image.digest.slice("sha256:".length, "sha256:".length + 8)}`}
            label="the digest of the image"
          />
        )}
        <span title="The worker stops it after this time">
          at most {durationText(execution.timeoutMs)}
        </span>
        {execution.priority === 0 ? null : <span>priority {execution.priority}</span>}
        {execution.sizeClass === 1 ? null : <span>size class {execution.sizeClass}</span>}
        <Copyable
          text={execution.actionDigest}
          shown={`action ${execution.actionDigest.slice(0, 8)}`}
          label="the action's digest"
        />
        <Link
          to="/cache"
          search={{ project: execution.project, after: execution.actionDigest }}
          hash="compare"
        >
          compare with another action
        </Link>
      </div>
      {waiting === null ? null : (
        <section className="why-not-running" aria-label="Why it does not run" aria-live="polite">
          <p className="waiting">It {waiting.sentence}.</p>
          {waiting.advice === null ? null : <p className="faint">{waiting.advice}</p>}
        </section>
      )}
      {execution.message === "" ? null : (
        <p className={outcome === "succeeded" ? "faint" : "problem"}>{execution.message}</p>
      )}
    </header>
  );
}
