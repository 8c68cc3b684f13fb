import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import type { SizeClassDetail } from "#api/size-class.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { costText, riskText } from "../../parts/cost.ts";
import { durationText } from "../../parts/duration.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { waitText, workersWords } from "../size-classes/class-table.tsx";
import { KeyTable } from "../size-classes/key-table.tsx";
import { HoursPlot } from "./hours-plot.tsx";
import { sizeClassQuery } from "./load.ts";
import "../times/times.css";
import "../size-classes/size-classes.css";
import "./size-class.css";
import { numberText } from "../../parts/number-text.ts";

/** One size class of a platform: its load, its cost, and its savings. */
export function SizeClassPage() {
  const { class: sizeClass } = useParams({ from: "/size-classes/$class" });
  const { platform } = useSearch({ from: "/size-classes/$class" });
  const { data } = useSuspenseQuery(sizeClassQuery(sizeClass, platform));
  usePageTitle(`Size class ${sizeClass}`, data.name);
  return (
    <div className="page size-class-page">
      <div className="row list-head">
        <h1>
          Size class {sizeClass} <span className="faint">{data.name}</span>
        </h1>
        <span className="grow" />
        <Others detail={data} />
      </div>
      <Tiles detail={data} />
      <section aria-label="The last 24 hours">
        <h2>Busy, hour by hour</h2>
        <HoursPlot hours={data.hours} slots={data.class.slots} />
      </section>
      <section aria-label="The most expensive actions here">
        <h2>The most expensive actions here</h2>
        {data.keys.length === 0 ? (
          <p className="faint">No action ran here that could also have run on another class.</p>
        ) : (
          <KeyTable keys={data.keys} />
        )}
      </section>
    </div>
  );
}

function Others({ detail }: { readonly detail: SizeClassDetail }) {
  if (detail.others.length === 0) return null;
  return (
    <nav aria-label="Other classes of this platform" className="row">
      <span className="faint">others</span>
      {detail.others.map((other) => (
        <Link
          key={other}
          to="/size-classes/$class"
          params={{ class: String(other) }}
          search={{ platform: detail.name }}
        >
          {other}
        </Link>
      ))}
    </nav>
  );
}

function Tiles({ detail: { class: of, lately } }: { readonly detail: SizeClassDetail }) {
  const { saved } = of;
  const isGood = saved.executions === 0 ? "" : saved.amount >= 0 ? "is-succeeded" : "is-failed";
  const gives = [
    of.cpus === null ? "" : `${of.cpus} ${of.cpus === 1 ? "CPU" : "CPUs"}`,
    of.memoryBytes === null ? "" : `${memorySizeText(of.memoryBytes)} of memory`,
  ].filter((part) => part !== "");
  const runs = `${numberText(of.runs)} ${of.runs === 1 ? "run" : "runs"}`;
  return (
    <div className="tiles">
      <section className="card tile is-running">
        <h2>Load</h2>
        <p className="figure number">
          {of.busy} <small>of {of.slots} slots busy</small>
        </p>
        <p className="faint">
          {numberText(of.queued)} queued; a new action would{" "}
          {of.expectedWaitMs === 0 ? "start at once" : `wait ${waitText(of.expectedWaitMs)}`}.
          Workers: {workersWords(of)}.
        </p>
      </section>
      <section className="card tile">
        <h2>Cost</h2>
        <p className="figure number">{costText(of.cost)}</p>
        <p className="faint">
          {runs} of {durationText(of.busySeconds * 1_000)} in total at {costText(of.price)} a second
          {gives.length === 0 ? "" : `, for ${gives.join(" and ")}`}.{" "}
          {of.share === null
            ? ""
            : `${riskText(of.share)} of the platform’s executions ended here.`}
          {lately.isCut ? " Only the latest executions are counted." : ""}
        </p>
      </section>
      <section className={`card tile ${isGood}`}>
        <h2>{saved.amount < 0 ? "Lost" : "Saved"} by its selection</h2>
        <p className="figure number">
          {saved.executions === 0 ? "–" : costText(Math.abs(saved.amount))}
        </p>
        <p className="faint">
          compared with always using the largest class; an estimate from{" "}
          {numberText(saved.executions)} executions
          {saved.unknown === 0 ? "" : `, ${numberText(saved.unknown)} left out`}
        </p>
      </section>
    </div>
  );
}
