import { Link } from "@tanstack/react-router";
import { Fragment, useId, useState } from "react";
import type { SizeClassDecision } from "#api/size-class.ts";
import { durationText } from "../../parts/duration.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { DecisionStory } from "../../parts/size-class-decision.tsx";
import { Ago } from "../../parts/times.tsx";

const purposeWords: Readonly<Record<SizeClassDecision["purpose"], string>> = {
  first: "",
  retry: "another try",
  hedge: "second run",
  background: "in the background",
};

/** The latest decisions; a button shows the reason of each. */
export function DecisionsTable({
  decisions,
}: {
  readonly decisions: readonly SizeClassDecision[];
}) {
  const [open, setOpen] = useState<string>();
  const id = useId();
  if (decisions.length === 0) return <p className="faint">None.</p>;
  return (
    <ScrollableTable label="Decisions">
      <table className="figures decisions">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Size class</th>
            <th scope="col">Reason</th>
            <th scope="col">Outcome</th>
            <th scope="col">Expected</th>
            <th scope="col">Execution</th>
          </tr>
        </thead>
        <tbody>
          {decisions.map((decision) => {
            const name = `${decision.executionId} ${decision.number}`;
            const isOpen = open === name;
            return (
              <Fragment key={name}>
                <tr className={isOpen ? "is-open" : ""}>
                  <th scope="row">
                    <Ago time={decision.decidedAt} />
                  </th>
                  <td>
                    {decision.sizeClass}{" "}
                    <span className="faint">{purposeWords[decision.purpose]}</span>
                  </td>
                  <td>
                    <button
                      type="button"
                      aria-expanded={isOpen}
                      aria-controls={isOpen ? id : undefined}
                      onClick={() => setOpen(isOpen ? undefined : name)}
                    >
                      Why?
                    </button>
                  </td>
                  <td>{cameOf(decision)}</td>
                  <td>{expectedText(decision)}</td>
                  <td>
                    <Link to="/executions/$id" params={{ id: decision.executionId }}>
                      <code>{decision.executionId.slice(0, 8)}</code>
                    </Link>
                  </td>
                </tr>
                {isOpen ? (
                  <tr id={id} className="why-row">
                    <td colSpan={6}>
                      <DecisionStory decision={decision} />
                    </td>
                  </tr>
                ) : null}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function cameOf({ runs }: SizeClassDecision): string {
  const last = runs.at(-1);
  if (last === undefined) return "nothing yet";
  if (last.outcome === null) return "runs";
  const took = last.durationMs === null ? "" : ` ${durationText(last.durationMs)}`;
  return `${last.outcome.replaceAll("_", " ")}${took}`;
}

/** Without knowledge, a decision contains the permitted time. */
function expectedText({ alternatives, expectedMs, sizeClass }: SizeClassDecision): string {
  const own = alternatives.find((each) => each.sizeClass === sizeClass);
  return own?.expectedMs === null ? "–" : durationText(expectedMs);
}
