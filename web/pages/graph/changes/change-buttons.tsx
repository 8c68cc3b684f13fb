import { useState } from "react";
import type { JobSummary } from "#api/graph.ts";
import { isOver } from "#api/job-state.ts";
import { useCommands } from "../../../parts/commands.ts";
import { useHotkeys } from "../../../parts/hotkeys.ts";
import { ActivateDialog } from "./activate-dialog.tsx";
import type { ChangeTarget } from "./requested-change.ts";
import { RetriggerDialog } from "./retrigger-dialog.tsx";

type Verb = "retrigger" | "activate" | "deactivate";

interface Props {
  readonly graphId: string;
  /** The jobs to change. */
  readonly jobs: readonly JobSummary[];
  /** The form in which the API identifies the jobs. */
  readonly target: ChangeTarget;
  /** The text for the dialog's title: `build`, `12 jobs`. */
  readonly named: string;
  /** Whether the user selected them: a whole graph is not set inactive by accident. */
  readonly isChoice: boolean;
  /** Whether the keys r and a apply to these jobs. */
  readonly hasKeys: boolean;
}

/** The possible changes of jobs in their present state. Each button first shows its effect. */
export function ChangeButtons({ graphId, jobs, target, named, isChoice, hasKeys }: Props) {
  const [open, setOpen] = useState<Verb>();
  const verbs = verbsFor(jobs).filter((verb) => isChoice || verb !== "deactivate");
  const keyFor = (verb: Verb) =>
    hasKeys && verbs.includes(verb) ? () => setOpen(verb) : undefined;
  useHotkeys({ r: keyFor("retrigger"), a: keyFor("activate") });
  useCommands(
    hasKeys
      ? verbs.map((verb) => ({
          label: `${labels[verb]} ${named}`,
          run: () => setOpen(verb),
        }))
      : [],
  );
  const close = () => setOpen(undefined);
  return (
    <>
      {verbs.map((verb) => (
        <button
          key={verb}
          type="button"
          title={hasKeys ? titles[verb] : undefined}
          onClick={() => setOpen(verb)}
        >
          {labels[verb]}
        </button>
      ))}
      {open === "retrigger" ? (
        <RetriggerDialog
          graphId={graphId}
          target={target}
          title={`Retrigger ${named}`}
          isOne={jobs.length === 1}
          isUnderWay={jobs.some(isUnderWay)}
          onClose={close}
        />
      ) : null}
      {open === "activate" || open === "deactivate" ? (
        <ActivateDialog
          graphId={graphId}
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

const titles: Readonly<Record<Verb, string | undefined>> = {
  retrigger: "Run again (r)",
  activate: "Activate (a)",
  deactivate: undefined,
};

function isUnderWay({ state }: JobSummary): boolean {
  return state === "queued" || state === "running";
}

function verbsFor(jobs: readonly JobSummary[]): Verb[] {
  const isAside = ({ state }: JobSummary) =>
    state === "inactive" || state === "expired" || state === "coalesced";
  const hasNotBegun = ({ state }: JobSummary) => state === "blocked" || state === "unreachable";
  const verbs: Verb[] = [];
  if (jobs.some((job) => isUnderWay(job) || (isOver(job.state) && !isAside(job))))
    verbs.push("retrigger");
  if (jobs.some(isAside)) verbs.push("activate");
  if (jobs.some(hasNotBegun)) verbs.push("deactivate");
  return verbs;
}
