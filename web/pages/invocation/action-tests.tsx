import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { shownText } from "../../parts/shown-text.ts";
import { ToolStateIcon, toolStateWords } from "../../parts/tool-state.tsx";
import { type InvocationAddress, testsQuery } from "./load.ts";

interface Props {
  readonly invocation: InvocationAddress;
  readonly label: string;
  readonly count: number;
}

/** The shards and attempts of a test by its actions, without build events. They are read when a person opens them. */
export function ActionTests({ invocation, label, count }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="target-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {numberText(count)} test {count === 1 ? "action" : "actions"}
      </summary>
      {isOpen ? <Attempts invocation={invocation} label={label} /> : null}
    </details>
  );
}

function Attempts({ invocation, label }: Omit<Props, "count">) {
  const { data, error } = useQuery(testsQuery(invocation, label));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The tests could not be loaded: {error.message}
      </p>
    );
  }
  if (data === undefined) return <p className="faint">Loading…</p>;
  const { attempts, isCut, unreadable } = data;
  return (
    <>
      {attempts.length === 0 ? null : (
        <ScrollableTable label={`Tests of ${shownText(label)}`}>
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">Run</th>
                <th scope="col">Shard</th>
                <th scope="col">Attempt</th>
                <th scope="col">Result</th>
                <th scope="col">Took</th>
                <th scope="col">Worker</th>
                <th scope="col">Execution</th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((each) => (
                <tr key={`${each.configuration} ${each.run} ${each.shard} ${each.attempt}`}>
                  <td>{each.run}</td>
                  <td>
                    {each.shard} of {each.shards}
                  </td>
                  <td>{each.attempt}</td>
                  <td>
                    <ToolStateIcon state={each.state} silent />
                    {resultText(each.state, each.outcome, each.exitCode)}
                  </td>
                  <td>{each.durationMs === null ? "" : durationText(each.durationMs)}</td>
                  <td>{shownText(each.worker ?? "")}</td>
                  <td>
                    {each.executionId === null ? (
                      ""
                    ) : (
                      <Link to="/executions/$id" params={{ id: each.executionId }}>
                        {each.executionId.slice(0, 8)}
                      </Link>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollableTable>
      )}
      {unreadable === 0 ? null : (
        <p className="faint">
          {numberText(unreadable)} more {unreadable === 1 ? "action is" : "actions are"} not listed:
          the commands, which name the shards, are no longer in the store.
        </p>
      )}
      {isCut ? <p className="faint">Only the first 500 actions were read.</p> : null}
    </>
  );
}

function resultText(
  state: keyof typeof toolStateWords,
  outcome: string | null,
  exitCode: number | null,
): string {
  if (state !== "failed") return toolStateWords[state];
  const words = (outcome ?? "failed").replaceAll("_", " ");
  return exitCode === null || exitCode === 0 ? words : `${words}, exit ${exitCode}`;
}
