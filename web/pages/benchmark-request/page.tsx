import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { RequestDetail } from "#api/benchmark-request.ts";
import { useNow } from "../../parts/now.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { ErrorList } from "../benchmarks/error-list.tsx";
import { endText, startText } from "../benchmarks/estimate-text.ts";
import { JobsTable } from "../benchmarks/jobs-table.tsx";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { reportQuery, requestQuery } from "../benchmarks/load.ts";
import { RequestCommands } from "../benchmarks/request-commands.tsx";
import { CompareLink, JobsBar } from "../benchmarks/request-line.tsx";
import { hasTrouble, originWords, requestStates } from "../benchmarks/request-words.ts";
import { StateSign } from "../benchmarks/state-mark.tsx";
import { ReportView } from "./report-view.tsx";
import "../benchmarks/benchmarks.css";
import "../benchmark-compare/compare.css";

/** One requested measurement of an artifact: its state, its jobs, and its result. */
export function RequestPage() {
  const { id } = useParams({ from: "/benchmarks/requests/$id" });
  const { data: request } = useSuspenseQuery(requestQuery(id));
  const report = useQuery({ ...reportQuery(id), enabled: request.hasReport });
  usePageTitle(request.artifact, "Benchmarks");
  return (
    <div className="page lab-page">
      <LabHead title={request.artifact} suite={request.suite}>
        <CompareLink request={request} />
        <RequestCommands request={request} />
      </LabHead>
      <div className="row facts-line">
        <StateSign state={requestStates[request.state]} />
        <span>{request.suite}</span>
        <span>{originWords(request)}</span>
        {request.parent === null ? null : <span>compared with {request.parent}</span>}
        <span>
          asked <Ago time={request.createdAt} />
        </span>
        {request.startedAt === null ? null : (
          <span>
            took <Elapsed from={request.startedAt} to={request.endedAt} />
          </span>
        )}
        {request.endedBy === null ? null : <span>ended by {request.endedBy}</span>}
        <span>{chosenWords(request)}</span>
      </div>
      <Standing request={request} />
      {request.unserved.map((sentence) => (
        <p key={sentence} role="alert" className="problem">
          {sentence}
        </p>
      ))}
      {!request.hasReport ? null : report.error !== null ? (
        <p role="alert" className="problem">
          {report.error.message}
        </p>
      ) : report.data === undefined ? (
        <p className="faint">Loading the report…</p>
      ) : (
        <ReportView report={report.data} />
      )}
      {hasTrouble(request) || request.errorList.length > 0 ? (
        <section aria-label="Errors">
          <h2>Errors</h2>
          <ErrorList request={request} />
        </section>
      ) : null}
      <section aria-label="Jobs">
        <h2>
          Jobs{" "}
          <span className="faint number">
            {request.jobs.ended} of {request.jobs.total} ended
          </span>
        </h2>
        <JobsBar jobs={request.jobs} />
        <JobsTable jobs={request.jobList} />
      </section>
      {request.parent === null ? null : (
        <p className="faint">
          A comparison of its figures with those of {request.parent} is on{" "}
          <Link
            to="/benchmarks/compare"
            search={{ suite: request.suite, before: request.parent, after: request.artifact }}
          >
            a separate page
          </Link>
          , also during the measurement.
        </p>
      )}
    </div>
  );
}

/** The position of a waiting request, and its estimated end. */
function Standing({ request }: { readonly request: RequestDetail }) {
  const now = useNow();
  const { estimate, place, placeBecause, state } = request;
  if (state === "in-progress") {
    return <p aria-live="polite">In progress; {endText(estimate, now)}.</p>;
  }
  if (place === null) return null;
  return (
    <p aria-live="polite">
      <strong>Place {place} in the queue</strong>
      {placeBecause === null ? "" : `: ${placeBecause}`}. It {startText(estimate, now)}
      {estimate.endsAt === null ? "" : ` and ${endText(estimate, now)}`}.
    </p>
  );
}

function chosenWords(request: RequestDetail): string {
  const { backends, benchmarks, paired, profiles, runs, targets } = request;
  const chosen = [...backends, ...profiles, ...targets, ...benchmarks];
  return `${chosen.length === 0 ? "all default cases" : `only ${chosen.join(", ")}`}${paired ? ", with pairs" : ""}${runs === null ? "" : `, each case runs ${runs} times`}`;
}
