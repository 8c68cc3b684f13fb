import { useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SizeClasses } from "#api/size-class.ts";
import { costText } from "../../parts/cost.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago } from "../../parts/times.tsx";
import { ClassTable } from "./class-table.tsx";
import { KeyList } from "./key-list.tsx";
import { sizeClassesQuery } from "./load.ts";
import { SettingsForm } from "./settings-form.tsx";
import "../times/times.css";
import "./size-classes.css";
import { numberText } from "../../parts/number-text.ts";

/** The sizes of workers, their load and cost, and the selection rules. */
export function SizeClassesPage() {
  const { data } = useSuspenseQuery(sizeClassesQuery);
  usePageTitle("Size classes");
  if (data.platforms.length === 0) {
    return (
      <EmptyState
        heading="h1"
        title="No size classes yet"
        command={`grange worker --server ${location.origin} --size-class 2`}
      >
        If workers have different sizes, the farm selects a size for each action. Start a worker of
        a size on any machine that can reach this address.
      </EmptyState>
    );
  }
  return (
    <div className="page size-classes-page">
      <h1>Size classes</h1>
      <SavedTile classes={data} />
      {data.platforms.map((platform) => (
        <section key={platform.name} aria-label={platform.name}>
          <h2>
            {platform.name}{" "}
            <span className="faint">{savedSentence(platform.saved, data.lately)}</span>
          </h2>
          <ClassTable platform={platform} />
        </section>
      ))}
      <SettingsForm />
      <KeyList />
      <p className="faint">
        The page <Link to="/workers">Workers</Link> lists each worker.
      </p>
    </div>
  );
}

function SavedTile({ classes: { lately, platforms, saved } }: { readonly classes: SizeClasses }) {
  const cost = platforms
    .flatMap(({ classes }) => classes)
    .reduce((sum, each) => sum + each.cost, 0);
  const isGood = saved.executions === 0 ? "" : saved.amount >= 0 ? "is-succeeded" : "is-failed";
  return (
    <div className="tiles">
      <section className={`card tile ${isGood}`}>
        <h2>{saved.amount < 0 ? "Lost" : "Saved"} compared with always using the largest class</h2>
        <p className="figure number">{costText(Math.abs(saved.amount))}</p>
        <p className="faint">
          an estimate from <span className="number">{numberText(saved.executions)}</span> executions
          {saved.unknown === 0
            ? ""
            : `; ${numberText(saved.unknown)} are not counted: their duration there is not known`}
        </p>
      </section>
      <section className="card tile">
        <h2>Cost</h2>
        <p className="figure number">{costText(cost)}</p>
        <p className="faint">
          seconds of slot time, multiplied by the price, {lately.isCut ? "of the latest" : "of"}{" "}
          <span className="number">{numberText(lately.executions)}</span> executions, since{" "}
          <Ago time={lately.since} />
        </p>
      </section>
    </div>
  );
}

function savedSentence(saved: SizeClasses["saved"], { isCut }: SizeClasses["lately"]): string {
  if (saved.executions === 0) return "";
  const when = isCut ? "lately" : "within a day";
  return `${saved.amount < 0 ? "lost" : "saved"} about ${costText(Math.abs(saved.amount))} ${when}`;
}
