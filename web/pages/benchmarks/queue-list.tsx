import type { z } from "zod";
import type { QueuedRequest } from "#api/benchmark-history.ts";
import { useNow } from "../../parts/now.ts";
import { endText, startText } from "./estimate-text.ts";
import { RequestCommands } from "./request-commands.tsx";
import { RequestLink } from "./request-line.tsx";
import { originWords, requestStates } from "./request-words.ts";
import { StateMark } from "./state-mark.tsx";

type Waiting = z.infer<typeof QueuedRequest>;

/** Waiting requests, in the order of their measurement, with the reasons for the order. */
export function QueueList({ waiting }: { readonly waiting: readonly Waiting[] }) {
  const now = useNow();
  return (
    <section aria-label="Queue">
      <h2>
        Queue <span className="faint">{waiting.length === 0 ? "" : waiting.length}</span>
      </h2>
      {waiting.length === 0 ? (
        <p className="faint">The queue is empty.</p>
      ) : (
        <ol className="rows lab-queue">
          {waiting.map(({ request, place, because, estimate }) => (
            <li key={request.id}>
              <span className="lab-place number">{place}</span>
              <StateMark state={requestStates[request.state]} />
              <span className="what">
                <RequestLink request={request} />
                <span className="faint">
                  {request.suite} · {originWords(request)}
                </span>
              </span>
              <span className="lab-two">
                <span>{because}</span>
                <span className="faint" title={estimateTitle(estimate)}>
                  {startText(estimate, now)}
                  {estimate.endsAt === null ? "" : `, ${endText(estimate, now)}`}
                </span>
              </span>
              <RequestCommands request={request} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function estimateTitle({ startsAt, endsAt }: Waiting["estimate"]): string {
  const text = (time: string | null) => (time === null ? "?" : new Date(time).toLocaleString());
  return `${text(startsAt)} – ${text(endsAt)}`;
}
