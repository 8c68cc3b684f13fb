import { useState } from "react";
import type { Graph, JobSummary } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { ActivateDialog } from "./activate-dialog.tsx";
import type { ChangeTarget } from "./asked-change.ts";
import { RetriggerDialog } from "./retrigger-dialog.tsx";

type Verb = "retrigger" | "activate" | "deactivate";

interface Props {
  readonly graph: Graph;
  /** The jobs that are meant. */
  readonly jobs: readonly JobSummary[];
  /** How the farm is told which are meant. */
  readonly target: ChangeTarget;
  /** Of the jobs, for the dialog's title: `build`, `12 jobs`. */
  readonly named: string;
}

/** What can be done to jobs as they stand. Each button shows first what it would do. */
export function ChangeButtons({ graph, jobs, target, named }: Props) {
  const [open, setOpen] = useState<Verb>();
  const verbs = verbsFor(jobs);
  const close = () => setOpen(undefined);
  return (
    <>
      {verbs.map((verb) => (
        <button key={verb} type="button" onClick={() => setOpen(verb)}>
          {labels[verb]}
        </button>
      ))}
      {open === "retrigger" ? (
        <RetriggerDialog
          graphId={graph.id}
          target={target}
          title={`Retrigger ${named}`}
          hasSet
          onClose={close}
        />
      ) : null}
      {open === "activate" || open === "deactivate" ? (
        <ActivateDialog
          graphId={graph.id}
          verb={open}
          target={target}
          title={open === "activate" ? `Activate ${named}` : `Set ${named} inactive`}
          onClose={close}
        />
      ) : null}
    </>
  );
}

const labels: Readonly<Record<Verb, string>> = {
  retrigger: "Retrigger…",
  activate: "Activate…",
  deactivate: "Set inactive…",
};

function verbsFor(jobs: readonly JobSummary[]): Verb[] {
  const isAside = ({ state }: JobSummary) =>
    state === "inactive" || state === "expired" || state === "coalesced";
  const hasNotBegun = ({ state }: JobSummary) => state === "blocked" || state === "unreachable";
  const verbs: Verb[] = [];
  if (jobs.some((job) => isOver(job.state) && !isAside(job))) verbs.push("retrigger");
  if (jobs.some(isAside)) verbs.push("activate");
  if (jobs.some(hasNotBegun)) verbs.push("deactivate");
  return verbs;
}
