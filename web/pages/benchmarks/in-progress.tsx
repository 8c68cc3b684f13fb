import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import type { QueuedRequest } from "#api/benchmark-history.ts";
import type { CollectorView } from "#api/collector.ts";
import { useNow } from "../../parts/now.ts";
import { Ago } from "../../parts/times.tsx";
import { endText } from "./estimate-text.ts";
import { JobsTable } from "./jobs-table.tsx";
import { requestQuery } from "./load.ts";
import { RequestCommands } from "./request-commands.tsx";
import { CompareLink, JobsBar, RequestLink } from "./request-line.tsx";
import { originWords } from "./request-words.ts";

type Running = z.infer<typeof QueuedRequest>;

/** The present measurements, with their progress. */
export function InProgress(props: {
  readonly running: readonly Running[];
  readonly collectors: readonly CollectorView[];
}) {
  return (
    <section aria-label="In progress">
      <h2>In progress</h2>
      {props.running.length === 0 ? (
        <p className="faint">
          Nothing.
          {props.collectors.some(({ state }) => state === "waiting" || state === "measuring")
            ? ""
            : " There is no collector either."}
        </p>
      ) : (
        <ul className="lab-running">
          {props.running.map((each) => (
            <RunningRequest key={each.request.id} of={each} />
          ))}
        </ul>
      )}
    </section>
  );
}

function RunningRequest({ of: { request, estimate } }: { readonly of: Running }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({ ...requestQuery(request.id), enabled: isOpen });
  const { ended, failed, total } = request.jobs;
  return (
    <li className="card">
      <div className="row lab-wrap">
        <span className="what">
          <RequestLink request={request} />
          <span className="faint">
            {request.suite} · {originWords(request)}
          </span>
        </span>
        <span className="grow" />
        <CompareLink request={request} />
        <RequestCommands request={request} />
      </div>
      <JobsBar jobs={request.jobs} />
      <div className="row lab-wrap">
        <span className="number">
          {ended} of {total} jobs
          {failed === 0 ? "" : `, ${failed} failed`}
        </span>
        {request.startedAt === null ? null : (
          <span className="faint">
            begun <Ago time={request.startedAt} />
          </span>
        )}
        <span className="faint">
          <Ends of={estimate} />
        </span>
        <span className="grow" />
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide its jobs" : "Show its jobs"}
        </button>
      </div>
      {!isOpen ? null : error !== null ? (
        <p role="alert" className="problem">
          {error.message}
        </p>
      ) : data === undefined ? (
        <p className="faint">Loading…</p>
      ) : (
        <JobsTable jobs={data.jobList} />
      )}
    </li>
  );
}

function Ends({ of }: { readonly of: Running["estimate"] }) {
  return endText(of, useNow());
}
