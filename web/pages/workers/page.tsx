import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";
import type { Worker } from "#api/worker.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { apiBase } from "../../farm/ask.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { workersQuery } from "./load.ts";
import "./workers.css";

export function WorkersPage() {
  const { data: workers } = useSuspenseQuery(workersQuery);
  const client = useQueryClient();
  usePageTitle("Workers");
  useEventStream("workers", {
    url: () => apiBase + workerEndpoints.workerEvents.path,
    onEvent: (data) =>
      client.setQueryData(
        workersQuery.queryKey,
        workerEndpoints.workerEvents.answer.shape.parse(JSON.parse(data)),
      ),
    onReconnected: () => void client.invalidateQueries(workersQuery),
  });

  if (workers.length === 0) {
    return (
      <EmptyState
        heading="h1"
        title="No workers"
        command={`grange worker --server ${location.origin}`}
      >
        Jobs wait until there is a worker. Start one on any machine that can reach this address.
      </EmptyState>
    );
  }
  const busy = workers.reduce((sum, worker) => sum + usedSlotsOf(worker), 0);
  const slots = workers.reduce(
    (sum, worker) => sum + (worker.state === "lost" ? 0 : worker.slots),
    0,
  );
  return (
    <div className="page wide-page">
      <h1>
        Workers{" "}
        <span className="faint number">
          {busy} of {slots} slots busy
        </span>
      </h1>
      <ul className="workers">
        {workers.map((worker) => (
          <WorkerCard key={worker.name} worker={worker} />
        ))}
      </ul>
    </div>
  );
}

const stateMeaning: Readonly<Record<Worker["state"], string>> = {
  idle: "waits for work",
  busy: "works",
  draining: "finishes its jobs and takes no new ones",
  lost: "its heartbeats stopped",
};

function usedSlotsOf({ running, endingCount }: Worker): number {
  return running.length + endingCount;
}

function WorkerCard({ worker }: { worker: Worker }) {
  const isInTrouble = worker.trouble !== null && worker.state !== "lost";
  const { "not stopped": notStopped = "", ...facilities } = worker.facilities;
  const stopsAll = notStopped === "";
  return (
    <li className={`card worker-${isInTrouble ? "in-trouble" : worker.state}`}>
      <header>
        <h2>{worker.name}</h2>
        <span className={`badge worker-state`} title={stateMeaning[worker.state]}>
          {isInTrouble ? "in trouble" : worker.state}
        </span>
        <SlotMeter used={usedSlotsOf(worker)} slots={worker.slots} />
      </header>
      {worker.trouble === null ? null : (
        <p className="worker-trouble">Cannot run anything now: {worker.trouble}</p>
      )}
      <dl className="facts">
        <dt>Size class</dt>
        <dd>
          {worker.sizeClass} <span className="faint">· {slotText(worker)}</span>
        </dd>
        <dt>Platform</dt>
        <dd>
          <Tags tags={worker.platform} />
        </dd>
        {worker.host === "" ? null : (
          <>
            <dt>Host</dt>
            <dd>
              {worker.host}
              {worker.transport === "ssh" ? <span className="faint"> · over ssh</span> : null}
            </dd>
          </>
        )}
        <dt>Sandbox</dt>
        <dd>
          <details>
            <summary>
              {facilities["isolation"] ?? "details"}
              {stopsAll ? "" : "; does not stop all attacks"}
            </summary>
            <Tags tags={facilities} />
            {stopsAll ? null : <p>Attacks that it does not stop: {notStopped}</p>}
          </details>
        </dd>
        <dt>Finished</dt>
        <dd className="number">{worker.finishedCount.toLocaleString()}</dd>
        <dt>Last seen</dt>
        <dd>
          <Ago time={worker.lastSeenAt} /> <span className="faint">· version {worker.version}</span>
        </dd>
      </dl>
      {worker.endingCount === 0 ? null : (
        <p className="faint">
          is stopping {worker.endingCount} that {worker.endingCount === 1 ? "was" : "were"}{" "}
          cancelled or given to another worker
        </p>
      )}
      {worker.running.length === 0 ? (
        <p className="faint">{stateMeaning[worker.state]}</p>
      ) : (
        <ul className="running">
          {worker.running.map((each) => (
            <li key={each.executionId}>
              {each.graphId === null || each.job === null ? (
                <Link to="/executions/$id" params={{ id: each.executionId }}>
                  <code>{each.executionId}</code>
                </Link>
              ) : (
                <Link to="/graphs/$id/jobs/$name" params={{ id: each.graphId, name: each.job }}>
                  {each.job}
                </Link>
              )}
              <Elapsed from={each.since} to={null} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Returns the resources of one of its slots. */
function slotText({ cpus, memoryBytes }: Worker): string {
  if (cpus === null && memoryBytes === null) return "a slot may use the whole machine";
  const many = cpus === null ? "all CPUs" : cpus === 1 ? "1 CPU" : `${cpus} CPUs`;
  return `a slot gives ${many}, ${memoryBytes === null ? "all memory" : memorySizeText(memoryBytes)}`;
}

function SlotMeter({ used, slots }: { used: number; slots: number }) {
  return (
    <span
      className="slots"
      role="img"
      aria-label={`${used} of ${slots} slots busy`}
      title={`${used} of ${slots} slots busy`}
    >
      {Array.from({ length: Math.min(slots, 32) }, (_, slot) => (
        // Slots have no identity: the first ones are shown as used.
        <span key={slot} className={slot < used ? "used" : ""} />
      ))}
    </span>
  );
}

function Tags({ tags }: { tags: Readonly<Record<string, string>> }) {
  return (
    <span className="tags">
      {Object.entries(tags).map(([name, value]) => (
        <span key={name} className="tag">
          <span className="faint">{name}</span> {value}
        </span>
      ))}
    </span>
  );
}
