import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { AskDialog } from "./ask-dialog.tsx";
import { Choose } from "./choose.tsx";
import { CollectorsGrid } from "./collectors-grid.tsx";
import { InProgress } from "./in-progress.tsx";
import { LabHead } from "./lab-head.tsx";
import { statusQuery } from "./load.ts";
import { QueueList } from "./queue-list.tsx";
import { RecentList } from "./recent-list.tsx";
import "./benchmarks.css";

/** The state of the lab: running, waiting and ended requests, and collectors. */
export function StatusPage() {
  const { suite, ask, artifact } = useSearch({ from: "/benchmarks" });
  const navigate = useNavigate({ from: "/benchmarks" });
  const { data } = useSuspenseQuery(statusQuery);
  usePageTitle("Benchmarks");
  const isOf = (request: { readonly suite: string }) =>
    suite === undefined || request.suite === suite;
  const suites = [
    ...new Set([...data.queue.map(({ request }) => request), ...data.recent].map((of) => of.suite)),
  ].sort();
  const queue = data.queue.filter(({ request }) => isOf(request));
  const isRunning = ({ request }: (typeof queue)[number]) => request.state === "in-progress";
  const recent = data.recent.filter(isOf);
  const change = (next: { suite?: string | undefined; ask?: string | undefined }) =>
    void navigate({
      search: (now) => ({ ...now, artifact: undefined, ...next }),
      replace: true,
      resetScroll: false,
    });
  const isNew = data.queue.length + data.recent.length + data.collectors.length === 0;
  return (
    <div className="page lab-page">
      <LabHead title="Benchmarks" suite={suite}>
        <Choose
          label="Suite"
          options={suites}
          value={suite}
          none="all"
          onChange={(next) => change({ suite: next })}
        />
        <button type="button" className="primary" onClick={() => change({ ask: "yes" })}>
          Request a measurement…
        </button>
      </LabHead>
      {ask === undefined ? null : (
        <AskDialog suite={suite} artifact={artifact} onClose={() => change({ ask: undefined })} />
      )}
      {data.alarms.length === 0 ? null : (
        <section className="card lab-alarms" aria-label="Alarms" role="alert">
          <ul>
            {data.alarms.map((alarm) => (
              <li key={alarm} className="problem">
                {alarm}
              </li>
            ))}
          </ul>
        </section>
      )}
      {isNew ? (
        <EmptyState
          title="Nothing is measured yet"
          command={`grange bench suite push --server ${location.origin}`}
        >
          A suite says what is measured and how, a collector is a machine that measures. Push a
          suite, add a collector and request a measurement of an artifact.{" "}
          <Link to="/benchmarks/help">The help page</Link> says how.
        </EmptyState>
      ) : (
        <>
          <InProgress running={queue.filter(isRunning)} collectors={data.collectors} />
          <QueueList waiting={queue.filter((each) => !isRunning(each))} />
          <CollectorsGrid collectors={data.collectors} />
          <RecentList requests={recent} />
        </>
      )}
    </div>
  );
}
