import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RequestSummary } from "#api/benchmark-request.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { ErrorList } from "./error-list.tsx";
import { requestQuery } from "./load.ts";
import { RequestCommands } from "./request-commands.tsx";
import { CompareLink, RequestLink } from "./request-line.tsx";
import { hasTrouble, originWords, requestStates } from "./request-words.ts";
import { StateMark } from "./state-mark.tsx";

/** Recently ended requests and their failures. */
export function RecentList({ requests }: { readonly requests: readonly RequestSummary[] }) {
  return (
    <section aria-label="Recently ended">
      <h2>Recently ended</h2>
      {requests.length === 0 ? (
        <p className="faint">Nothing yet.</p>
      ) : (
        <ul className="rows lab-recent">
          {requests.map((request) => (
            <EndedRequest key={request.id} request={request} />
          ))}
        </ul>
      )}
    </section>
  );
}

function EndedRequest({ request }: { readonly request: RequestSummary }) {
  const [isOpen, setOpen] = useState(false);
  const state = requestStates[request.state];
  const isTroubled = hasTrouble(request);
  return (
    <li>
      <StateMark state={state} />
      <span className="what">
        <RequestLink request={request} />
        <span className="faint">
          {request.suite} · {originWords(request)}
        </span>
      </span>
      {isTroubled ? (
        <button
          type="button"
          className="lab-errors"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {request.errors === 1 ? "1 error" : `${request.errors} errors`}
        </button>
      ) : (
        <span className="faint">no errors</span>
      )}
      {request.parent === null ? <span /> : <CompareLink request={request} />}
      <span className="right" title="Took">
        <Elapsed from={request.startedAt} to={request.endedAt ?? request.startedAt} />
      </span>
      {request.endedAt === null ? <span /> : <Ago time={request.endedAt} />}
      <RequestCommands request={request} />
      {isOpen ? <Errors id={request.id} /> : null}
    </li>
  );
}

function Errors({ id }: { readonly id: string }) {
  const { data, error } = useQuery(requestQuery(id));
  return (
    <div className="lab-wide">
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {data === undefined ? (
        error === null ? (
          <p className="faint">Loading…</p>
        ) : null
      ) : (
        <ErrorList request={data} />
      )}
    </div>
  );
}
