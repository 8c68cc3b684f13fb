import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { FlakyEntry, FlakyExample } from "#api/flaky.ts";
import { Choice } from "../../parts/choice.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { flakyQuery } from "./load.ts";
import { defaultDays, type FlakySearch, periods } from "./search.ts";
import "./flaky.css";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** Jobs and actions of which one and the same had different outcomes. */
export function FlakyPage() {
  const search = useSearch({ from: "/flaky" });
  const navigate = useNavigate({ from: "/flaky" });
  const { data } = useSuspenseQuery(flakyQuery(search));
  usePageTitle("Flaky");
  const change = (next: FlakySearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  const days = search.days ?? defaultDays;
  const repositories = [...new Set(data.entries.map(({ repository }) => repository))];
  return (
    <div className="page flaky-page">
      <h1>Flaky</h1>
      <p className="faint">
        The same action (inputs, command and platform) succeeded once and failed once. Lost workers
        and errors of the farm do not count.
      </p>
      <div className="toolbar" role="toolbar" aria-label="What to show">
        <Choice
          label="Period"
          options={periods}
          chosen={days}
          textOf={(each) => `${each} d`}
          onChoose={(each) => change({ days: each })}
        />
        {search.repository === undefined ? (
          repositories.length < 2 ? null : (
            <label>
              Repository{" "}
              <select
                value=""
                onChange={({ target }) =>
                  change({ repository: target.value === "" ? undefined : target.value })
                }
              >
                <option value="">all</option>
                {repositories.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          )
        ) : (
          <button type="button" onClick={() => change({ repository: undefined })}>
            Only {search.repository}: show all
          </button>
        )}
      </div>
      {data.entries.length === 0 ? (
        <p role="status">
          Nothing was flaky in the last {days} {days === 1 ? "day" : "days"}. To find out whether a
          job is flaky, run it again without the cache: Retrigger on its page.
        </p>
      ) : (
        <Entries entries={data.entries} />
      )}
    </div>
  );
}

function Entries({ entries }: { readonly entries: readonly FlakyEntry[] }) {
  return (
    <ScrollableTable label="Table of flaky jobs and actions">
      <table className="figures flaky">
        <thead>
          <tr>
            <th scope="col">Job or action</th>
            <th scope="col">Rate of failure</th>
            <th scope="col">95 % interval</th>
            <th scope="col">Failures</th>
            <th scope="col">Runs</th>
            <th scope="col">Last failures</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={`${entry.kind} ${entry.repository} ${entry.name}`}>
              <th scope="row">
                <span className="flaky-name">{shownText(entry.name)}</span>
                <span className="faint">
                  {entry.repository} · {entry.kind === "job" ? "job" : "action of a build"}
                </span>
              </th>
              <td className="number">{percentText(entry.rate)}</td>
              <td>
                <Interval of={entry} />
              </td>
              <td className="number">{numberText(entry.failures)}</td>
              <td className="number">{numberText(entry.runs)}</td>
              <td className="flaky-examples">
                <ul>
                  {entry.examples.map((example) => (
                    <Example key={example.at} of={example} />
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function Example({ of }: { readonly of: FlakyExample }) {
  const words = `${of.outcome.replaceAll("_", " ")}${of.message === null ? "" : `: ${shownText(of.message)}`}`;
  return (
    <li>
      {of.job !== null ? (
        <Link
          to="/graphs/$id/jobs/$name"
          params={{ id: of.job.graph, name: of.job.name }}
          search={{ run: of.job.run }}
        >
          {words}
        </Link>
      ) : of.execution === null ? (
        words
      ) : (
        <Link to="/executions/$id" params={{ id: of.execution }}>
          {words}
        </Link>
      )}{" "}
      <span className="faint">
        <Ago time={of.at} />
        {of.passedIn === null || of.job === null ? null : (
          <>
            {" · "}
            <Link to="/graphs/$id/jobs/$name" params={{ id: of.passedIn, name: of.job.name }}>
              succeeded here
            </Link>
          </>
        )}
      </span>
    </li>
  );
}

/** The interval on a line from 0 to 100 %, and in words. */
function Interval({ of }: { readonly of: FlakyEntry }) {
  return (
    <>
      <svg className="flaky-interval" viewBox="0 0 100 10" aria-hidden="true">
        <path d="M0 5H100" className="ground" />
        <path d={`M${100 * of.low} 5H${100 * of.high}`} className="range" />
        <circle cx={100 * of.rate} cy="5" r="3" />
      </svg>
      <span className="number">
        {percentText(of.low)} to {percentText(of.high)}
      </span>
    </>
  );
}

function percentText(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}
