import type { ClonedGraph, ClonedJobForms, CloneMode } from "#api/rerun.ts";
import { ChangedParts } from "../../../parts/changed-parts.tsx";

interface Props {
  readonly clone: ClonedGraph;
  readonly mode: CloneMode;
}

const mostShown = 100;

/** The jobs of a clone, and the differences between its three possible forms. */
export function CloneForms({ clone: { jobs, differences, todayProblem }, mode }: Props) {
  return (
    <>
      <p>
        <strong className="number">{jobs.length}</strong> {jobs.length === 1 ? "job" : "jobs"}
        {differences.length === 0
          ? ". The three forms are the same."
          : `; ${differences.length} ${differences.length === 1 ? "differs" : "differ"} between the three forms:`}
      </p>
      {todayProblem === null ? null : (
        <p className="faint">Today's definitions cannot be used: {todayProblem}</p>
      )}
      {differences.length === 0 ? null : (
        <div className="planned-jobs" role="region" aria-label="Differences" tabIndex={0}>
          {differences.slice(0, mostShown).map((forms) => (
            <Forms key={forms.job} forms={forms} mode={mode} />
          ))}
          {differences.length > mostShown ? (
            <p className="faint">and {differences.length - mostShown} more</p>
          ) : null}
        </div>
      )}
    </>
  );
}

function Forms({ forms, mode }: { readonly forms: ClonedJobForms; readonly mode: CloneMode }) {
  return (
    <section className="diff-lines forms">
      <h3>
        {forms.job} <span className="faint">{standing(forms, mode)}</span>
      </h3>
      {forms.customisations.length === 0 ? null : (
        <>
          <p className="faint">Manual changes</p>
          <ChangedParts parts={forms.customisations.map(partOf)} />
        </>
      )}
      {forms.changesSince.length === 0 ? null : (
        <>
          <p className="faint">Changes of the definitions since then</p>
          <ChangedParts parts={forms.changesSince.map(partOf)} />
        </>
      )}
    </section>
  );
}

function standing(forms: ClonedJobForms, mode: CloneMode): string {
  if (forms.today === null && forms.uncustomised !== null) {
    return mode === "today"
      ? "does not exist in today's definitions, and is not cloned"
      : "does not exist today";
  }
  return forms.asItRan === null ? "is new today" : "";
}

const partOf = ({ path, was, is }: ClonedJobForms["customisations"][number]) => ({
  path,
  before: was,
  after: is,
});
