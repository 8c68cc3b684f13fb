import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { BuildTiming } from "#api/build-timing.ts";
import type { InvocationDetail } from "#api/invocation.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { timingQuery } from "./load.ts";

/** How the actions of a build spent their time: by mnemonic, by worker, and the longest chain. */
export function ActionTimes({ invocation }: { readonly invocation: InvocationDetail }) {
  const { data, error } = useQuery(timingQuery(invocation));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The times could not be loaded: {error.message}
      </p>
    );
  }
  if (data === undefined) return <p className="faint">Loading…</p>;
  return (
    <>
      {data.isCut ? <p className="faint">Only the first 20,000 actions are counted.</p> : null}
      <Mnemonics timing={data} />
      <Workers timing={data} />
      <Chain timing={data} />
    </>
  );
}

function Mnemonics({ timing }: { readonly timing: BuildTiming }) {
  return (
    <section aria-label="By mnemonic">
      <h2>By mnemonic</h2>
      <ScrollableTable label="Table of mnemonics">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Mnemonic</th>
              <th scope="col">Executed</th>
              <th scope="col">Failed</th>
              <th scope="col">From the cache</th>
              <th scope="col">Ran</th>
              <th scope="col">Longest</th>
              <th scope="col">Waited</th>
            </tr>
          </thead>
          <tbody>
            {timing.mnemonics.map((row) => (
              <tr key={row.mnemonic}>
                <th scope="row">{row.mnemonic === "" ? "no name" : shownText(row.mnemonic)}</th>
                <td>{numberText(row.executed)}</td>
                <td>{numberText(row.failed)}</td>
                <td>{numberText(row.cached)}</td>
                <td>{durationText(row.ranMs)}</td>
                <td>{durationText(row.longestMs)}</td>
                <td>{durationText(row.waitedMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}

function Workers({ timing }: { readonly timing: BuildTiming }) {
  if (timing.workers.length === 0) return null;
  return (
    <section aria-label="By worker">
      <h2>By worker</h2>
      <ScrollableTable label="Table of workers">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">Executed</th>
              <th scope="col">Ran</th>
            </tr>
          </thead>
          <tbody>
            {timing.workers.map(({ worker, executed, ranMs }) => (
              <tr key={worker}>
                <th scope="row">{shownText(worker)}</th>
                <td>{numberText(executed)}</td>
                <td>{durationText(ranMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}

function Chain({ timing: { chain, chainLength, wallMs } }: { readonly timing: BuildTiming }) {
  if (chain.length === 0) return null;
  return (
    <section aria-label="Longest chain">
      <h2>Longest chain</h2>
      <p className="faint">
        {numberText(chainLength)} {chainLength === 1 ? "action" : "actions"} that followed one
        another, in a build of {durationText(wallMs)}. The farm does not know which action needs
        which. It assumes that an action needs the one that ended last before its own request.
        {chain.length < chainLength ? ` The last ${chain.length} are shown.` : ""}
      </p>
      <ScrollableTable label="Table of the critical path">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Action</th>
              <th scope="col">Mnemonic</th>
              <th scope="col">Build tool before it</th>
              <th scope="col">Waited</th>
              <th scope="col">Ran</th>
              <th scope="col">Worker</th>
            </tr>
          </thead>
          <tbody>
            {chain.map((step) => (
              <tr key={step.executionId}>
                <th scope="row">
                  <Link to="/executions/$id" params={{ id: step.executionId }}>
                    {step.target === "" ? step.executionId.slice(0, 8) : shownText(step.target)}
                  </Link>
                </th>
                <td>{shownText(step.mnemonic)}</td>
                <td>{durationText(step.toolMs)}</td>
                <td>{durationText(step.waitedMs)}</td>
                <td>{durationText(step.ranMs)}</td>
                <td>{shownText(step.worker ?? "")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
    </section>
  );
}
