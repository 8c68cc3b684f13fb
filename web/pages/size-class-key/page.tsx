import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import type { SizeClassKeyDetail } from "#api/size-class.ts";
import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { keyName, levelText } from "../../parts/size-class-decision.tsx";
import { Ago } from "../../parts/times.tsx";
import { ClassPlot } from "./class-plot.tsx";
import { DecisionsTable } from "./decisions-table.tsx";
import { sizeClassKeyQuery } from "./load.ts";
import { bytesScale, timeScale } from "./plot-scale.ts";
import { MarkLegend } from "./run-mark.tsx";
import { RunsTable } from "./runs-table.tsx";
import "./size-class-key.css";

/** All data that is stored under a key: its runs on each class, the estimates, and the decisions. */
export function SizeClassKeyPage() {
  const { key } = useParams({ from: "/size-class-keys/$key" });
  const search = useSearch({ from: "/size-class-keys/$key" });
  const { data } = useSuspenseQuery(sizeClassKeyQuery(key, search));
  usePageTitle(keyName(data), "Size classes");
  return (
    <div className="page size-class-key-page">
      <h1>{keyName(data)}</h1>
      <Facts of={data} />
      <section aria-label="Runs on each class">
        <h2>
          How it ran{" "}
          <span className="faint">
            the last 32 times on each class, oldest first; logarithmic scale
          </span>
        </h2>
        {data.failuresInARow > 0 && data.classes.every(({ runs }) => runs.length === 0) ? (
          <p className="faint">
            It has only failed so far. Final failures do not depend on the class, and are not shown.
          </p>
        ) : null}
        <Plots classes={data.classes} />
      </section>
      <section aria-label="Latest decisions">
        <h2>Decisions</h2>
        <DecisionsTable decisions={data.decisions} />
      </section>
    </div>
  );
}

function Facts({ of }: { readonly of: SizeClassKeyDetail }) {
  return (
    <div className="row facts-line">
      <span>grouped by {levelText(of.level)}</span>
      {of.project === "default" ? null : <span>project {shownText(of.project)}</span>}
      <span>trust domain {shownText(of.domain)}</span>
      <span>
        seen <Ago time={of.lastSeenAt} />
      </span>
      {of.lastFailureAt === null ? null : (
        <span
          className={of.failuresInARow === 0 ? "faint" : "problem"}
          title="Such failures do not depend on the class, and the runs below do not include them"
        >
          failed on the largest class <Ago time={of.lastFailureAt} />
          {of.failuresInARow > 1 ? `, ${of.failuresInARow} times in a row` : ""}
          {of.failuresInARow === 0 ? ", not since" : ""}
        </span>
      )}
      <Copyable text={of.key} shown={shownText(of.key)} label="the key" />
    </div>
  );
}

function Plots({ classes }: Pick<SizeClassKeyDetail, "classes">) {
  if (classes.every(({ runs, estimate }) => runs.length === 0 && estimate === null)) {
    return <p className="faint">There are no records yet.</p>;
  }
  const times = timeScale(
    classes.flatMap(({ runs, estimate }) => [
      ...runs.map(({ durationMs }) => durationMs),
      ...(estimate?.band ? [estimate.band.fastMs, estimate.band.slowMs] : []),
      ...(estimate?.expectedMs ? [estimate.expectedMs] : []),
    ]),
  );
  const peaks = classes.flatMap(({ runs }) =>
    runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []),
  );
  const memory = peaks.length === 0 ? undefined : bytesScale(peaks);
  return (
    <>
      <MarkLegend />
      <div className="class-plots">
        {classes.map((each) => (
          <ClassPlot key={each.sizeClass} of={each} times={times} memory={memory} />
        ))}
      </div>
      <details>
        <summary>As a table</summary>
        <RunsTable classes={classes} />
      </details>
    </>
  );
}
