import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ChangePointStatement, ChangePointView, Series } from "#api/benchmark-history.ts";
import { Modal } from "../../parts/modal.tsx";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { Ago } from "../../parts/times.tsx";
import { changeText, isWorse, valueText } from "../benchmarks/figure-text.ts";
import { submitChangePointStatement } from "./load.ts";

interface Props {
  readonly series: Series;
  readonly onSearch: (from: string, to: string) => void;
}

const standings: Readonly<Record<ChangePointView["standing"], string>> = {
  found: "not reviewed",
  accepted: "accepted",
  dismissed: "dismissed",
};

/** The steps of the series, and people's statements about them. */
export function ChangePoints({ series, onSearch }: Props) {
  const { changePoints, metric, suite } = series;
  const [statement, setStatement] = useState<Omit<ChangePointStatement, "note">>();
  return (
    <section aria-label="Change points">
      <h2>Steps</h2>
      {changePoints.length === 0 ? (
        <p className="faint">
          None. The farm looks for steps when it receives a figure of the main line.
        </p>
      ) : (
        <ScrollableTable label="Steps">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">First artifact</th>
                <th scope="col">Change</th>
                <th scope="col">Mean before and after</th>
                <th scope="col">p</th>
                <th scope="col">Found</th>
                <th scope="col">Decision</th>
                <th scope="col">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {changePoints.map((step) => {
                const address = { suite, case: series.case, metric: metric.name };
                const say = (standing: ChangePointView["standing"]) =>
                  setStatement({
                    ...address,
                    fingerprint: step.fingerprint,
                    artifact: step.artifact,
                    standing,
                  });
                return (
                  <tr key={`${step.artifact} ${step.fingerprint}`}>
                    <th scope="row">
                      <Link
                        to="/benchmarks/compare"
                        search={{
                          suite,
                          before: step.before,
                          after: step.artifact,
                          metric: metric.name,
                        }}
                        title={`Compare with ${step.before}`}
                      >
                        {step.artifact}
                      </Link>
                    </th>
                    <td>
                      <span
                        className={`badge ${isWorse(step.change, metric.better) ? "is-failed" : "is-succeeded"}`}
                      >
                        {changeText(step.change)}{" "}
                        {isWorse(step.change, metric.better) ? "worse" : "better"}
                      </span>
                    </td>
                    <td>
                      {valueText(step.meanBefore, metric.unit)} →{" "}
                      {valueText(step.meanAfter, metric.unit)}
                    </td>
                    <td>{step.p < 1e-6 ? "< 0.000001" : step.p.toPrecision(2)}</td>
                    <td>
                      <Ago time={step.foundAt} />
                    </td>
                    <td className="step-said">
                      {standings[step.standing]}
                      {step.statedBy === null ? "" : ` by ${step.statedBy}`}
                      {step.note === null ? "" : `: ${step.note}`}
                    </td>
                    <td>
                      <span className="button-row step-deeds">
                        {step.standing === "accepted" ? null : (
                          <button type="button" onClick={() => say("accepted")}>
                            Accept…
                          </button>
                        )}
                        {step.standing === "dismissed" ? null : (
                          <button type="button" onClick={() => say("dismissed")}>
                            Dismiss…
                          </button>
                        )}
                        <button type="button" onClick={() => onSearch(step.before, step.artifact)}>
                          Search here
                        </button>
                      </span>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </ScrollableTable>
      )}
      {statement === undefined ? null : (
        <StatementDialog statement={statement} onClose={() => setStatement(undefined)} />
      )}
    </section>
  );
}

function StatementDialog(props: {
  readonly statement: Omit<ChangePointStatement, "note">;
  readonly onClose: () => void;
}) {
  const { statement, onClose } = props;
  const client = useQueryClient();
  const [note, setNote] = useState("");
  const say = useMutation({
    mutationFn: () => submitChangePointStatement({ ...statement, note: note.trim() || null }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["benchmark-series"] });
      onClose();
    },
  });
  const isAccepted = statement.standing === "accepted";
  return (
    <Modal
      title={`${isAccepted ? "Accept" : "Dismiss"} the step at ${statement.artifact}`}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          say.mutate();
        }}
      >
        <p>
          {isAccepted
            ? "The change was intended, or is acceptable. The farm no longer compares later figures with those before it."
            : "This is not a real step but noise or a measurement error. Charts no longer show it."}
        </p>
        <label className="stacked">
          Note
          <textarea
            rows={3}
            maxLength={2_000}
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
        </label>
        {say.error === null ? null : (
          <p role="alert" className="problem">
            {say.error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={say.isPending}>
            {isAccepted ? "Accept" : "Dismiss"}
          </button>
        </div>
      </form>
    </Modal>
  );
}
