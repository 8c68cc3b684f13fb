import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { CaseNoise } from "#api/benchmark-noise.ts";
import { caseKey, caseOfKey } from "#core/test-case.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { caseWords } from "../benchmarks/case-words.ts";
import { percentText } from "../benchmarks/figure-text.ts";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { suitesQuery } from "../benchmarks/load.ts";
import { noiseQuery } from "./load.ts";
import { NoiseStrip } from "./noise-strip.tsx";
import { limitText, sourceText, spreadText } from "./noise-words.ts";
import "../benchmarks/benchmarks.css";
import "./noise.css";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** How much one benchmark's figures vary without a cause, and the limits learned from that. */
export function NoisePage() {
  const search = useSearch({ from: "/benchmarks/noise" });
  const { data: suites } = useSuspenseQuery(suitesQuery);
  const suite = suites.suites.find(({ name }) => name === search.suite) ?? suites.suites[0];
  const of = caseOfKey(search.case ?? "");
  const noise = useQuery({
    ...noiseQuery({ suite: suite?.name ?? "", case: search.case ?? "" }),
    enabled: suite !== undefined && of !== undefined,
  });
  usePageTitle(of === undefined ? "Noise" : `Noise of ${of.benchmark}`, "Benchmarks");
  if (suite === undefined || of === undefined) {
    return (
      <div className="page lab-page">
        <LabHead title="Noise" />
        <p>
          The address names no case. Open a case from{" "}
          <Link to="/benchmarks/graphs">the graphs</Link>.
        </p>
      </div>
    );
  }
  return (
    <div className="page lab-page">
      <LabHead
        title={
          <>
            Noise of {of.benchmark} <span className="faint">{caseWords(of)}</span>
          </>
        }
        suite={suite.name}
      />
      <p className="noise-intro">
        The differences between figures of this case without a change: between runs of one artifact,
        and in self-tests, in which a collector compares an artifact with itself. A change is
        reported when it exceeds the limit.{" "}
        <Link to="/benchmarks/help">How figures are judged</Link> ·{" "}
        <Link to="/benchmarks/series" search={{ suite: suite.name, case: caseKey(of) }}>
          its history
        </Link>
      </p>
      {noise.error === null ? null : (
        <p role="alert" className="problem">
          {noise.error.message}
        </p>
      )}
      {noise.data === undefined ? (
        <p className="faint">{noise.error === null ? "Loading…" : ""}</p>
      ) : noise.data.machines.length === 0 ? (
        <p className="faint">It has not been measured yet.</p>
      ) : (
        noise.data.machines.map((machine) => (
          <MachineNoise key={machine.fingerprint} of={machine} />
        ))
      )}
    </div>
  );
}

function MachineNoise({ of }: { readonly of: CaseNoise["machines"][number] }) {
  const id = of.fingerprint.slice(0, 12);
  const cpu = of.facts["cpu"];
  return (
    <section aria-label={`Machine ${id}`} className="noise-machine">
      <h2>
        {of.collectors.length === 0 ? "Only self-tests" : of.collectors.join(", ")}{" "}
        <span className="faint">
          {cpu === undefined ? "" : `${shownText(cpu)} · `}fingerprint {id}
          {of.newest === null ? "" : ` · newest ${of.newest}`}
        </span>
      </h2>
      <ScrollableTable label={`Noise on ${id}`}>
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <th scope="col">Runs of one artifact</th>
              <th scope="col">Self-tests, 95 %</th>
              <th scope="col">Limit</th>
              <th scope="col">
                {" "}
                Measured{" "}
                <span className="faint">
                  (<span className="noise-key-runs">runs</span>,{" "}
                  <span className="noise-key-tests">self-tests</span>, limit)
                </span>
              </th>
              <th scope="col" className="noise-told">
                Measured from
              </th>
            </tr>
          </thead>
          <tbody>
            {of.metrics.map((each) => (
              <tr key={each.metric.name}>
                <th scope="row">
                  {each.metric.name} <span className="faint">{each.metric.nature}</span>
                </th>
                <td>
                  {spreadText(each.runs.map(({ scatter }) => scatter))}
                  {each.runs.length === 0 ? null : (
                    <span className="faint"> of {each.runs.length}</span>
                  )}
                </td>
                <td>
                  {each.selfTestsP95 === null ? (
                    <span className="faint">none yet</span>
                  ) : (
                    <>
                      {percentText(each.selfTestsP95)}
                      <span className="faint"> of {each.selfTests.length}</span>
                    </>
                  )}
                </td>
                <td>
                  {each.fence === null ? <span className="faint">–</span> : percentText(each.fence)}
                </td>
                <td>
                  <NoiseStrip of={each} />
                </td>
                <td className="noise-told">
                  <strong>{limitText(each)}</strong>{" "}
                  <span className="faint">{sourceText(each.from)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}
