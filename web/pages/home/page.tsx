import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { GraphSummary } from "#api/graph.ts";
import type { Overview } from "#api/overview.ts";
import { apiBase } from "../../farm/ask.ts";
import { isNews } from "../../farm/is-news.ts";
import { useEventStream } from "../../farm/use-event-stream.ts";
import { durationText } from "../../parts/duration.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { GraphRow } from "../../parts/graph-row.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { AttentionList } from "./attention-list.tsx";
import { FarmAccess } from "./farm-access.tsx";
import "./home.css";
import { numberText } from "../../parts/number-text.ts";
import { overviewQuery } from "./load.ts";
import { NoWorkerConnected } from "./no-worker-connected.tsx";

/** A graph of many jobs changes many times a second; the page is read again at most this often. */
const readAgainMs = 3_000;

export function HomePage() {
  const { data: overview } = useSuspenseQuery(overviewQuery);
  const readAgain = useReadAgain();
  usePageTitle("Home");
  useEventStream("events", {
    url: () => `${apiBase}/events`,
    onEvent: (data) => {
      if (isNews(overview.graphs, GraphSummary.parse(JSON.parse(data)))) readAgain();
    },
    onReconnected: readAgain,
  });

  if (overview.graphs.length === 0) return <NoGraphsYet overview={overview} />;
  const running = overview.graphs.filter(({ state }) => state === "running");
  const ended = overview.graphs.filter(({ state }) => state !== "running");
  return (
    <div className="page home">
      <h1>Home</h1>
      <FarmFigures farm={overview.farm} />
      <NoWorkerConnected farm={overview.farm} />
      <section>
        <h2>Needs attention</h2>
        <AttentionList items={overview.attention} />
      </section>
      {running.length === 0 ? null : <Graphs title="Running now" graphs={running} />}
      {ended.length === 0 ? null : <Graphs title="Recent graphs" graphs={ended} />}
      <p>
        <Link to="/repositories">All repositories</Link>
      </p>
      <FarmAccess />
    </div>
  );
}

/** Returns a function that reads the overview again, at once if that has not happened lately, otherwise a little later. */
function useReadAgain(): () => void {
  const client = useQueryClient();
  const last = useRef(0);
  const waiting = useRef<number | undefined>(undefined);
  return () => {
    if (waiting.current !== undefined) return;
    const inMs = Math.max(0, last.current + readAgainMs - performance.now());
    waiting.current = window.setTimeout(() => {
      waiting.current = undefined;
      last.current = performance.now();
      void client.invalidateQueries(overviewQuery);
    }, inMs);
  };
}

function NoGraphsYet({ overview }: { overview: Overview }) {
  return (
    <>
      <EmptyState title="No graphs yet" command="grange submit . --rev HEAD" note={<FarmAccess />}>
        A graph is the work of one commit. Run this in a Git repository, and its graph appears here.
        Bazel, ccache and other build tools can use this farm, too:{" "}
        <Link to="/connect">connect your tool</Link>, and see its{" "}
        <Link to="/invocations">invocations</Link>.
      </EmptyState>
      <div className="page home">
        <NoWorkerConnected farm={overview.farm} />
        {overview.attention.length === 0 ? null : (
          <section>
            <h2>Needs attention</h2>
            <AttentionList items={overview.attention} />
          </section>
        )}
      </div>
    </>
  );
}

function Graphs({ title, graphs }: { title: string; graphs: Overview["graphs"] }) {
  return (
    <section>
      <h2>{title}</h2>
      <ul className="rows graphs">
        {graphs.map((graph) => (
          <GraphRow key={graph.id} graph={graph}>
            <Link to="/repositories/$name" params={{ name: graph.repository }}>
              {graph.repository}
            </Link>{" "}
            · {graph.branch} · {graph.author}
          </GraphRow>
        ))}
      </ul>
    </section>
  );
}

function FarmFigures({ farm }: { farm: Overview["farm"] }) {
  if (farm === null) return null;
  const { workers, slots, busySlots, queued, week } = farm;
  const rate = week.requested === 0 ? undefined : Math.round((100 * week.hits) / week.requested);
  return (
    <dl className="figures">
      <Figure label="Workers" value={String(workers)} to="/workers" />
      <Figure label="Slots busy" value={`${busySlots} of ${slots}`} to="/workers" />
      <Figure label="Queued" value={numberText(queued)} to="/times" />
      {rate === undefined ? null : (
        <>
          <Figure label="Granary hits, 7 days" value={`${rate} %`} to="/granary" />
          <Figure label="Time saved, 7 days" value={durationText(week.savedMs)} to="/granary" />
        </>
      )}
    </dl>
  );
}

function Figure(props: { label: string; value: string; to: "/workers" | "/times" | "/granary" }) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>
        <Link to={props.to}>{props.value}</Link>
      </dd>
    </div>
  );
}
