import { useDeferredValue, useId, useState } from "react";
import type { JobDetail } from "#api/graph.ts";
import type { Customise, CustomisedJob } from "#api/rerun.ts";
import { ChangedParts } from "../../parts/changed-parts.tsx";
import { Modal } from "../../parts/modal.tsx";
import { PlannedJobs } from "../graph/changes/planned-jobs.tsx";
import { useCustomising } from "./use-customising.ts";
import "../graph/changes/changes.css";
import { z } from "zod";

const Patch = z.record(z.string(), z.json());

type ReadPatch =
  | { readonly kind: "patch"; readonly patch: z.infer<typeof Patch> }
  | { readonly kind: "problem"; readonly problem: string };

interface Props {
  readonly detail: JobDetail;
  readonly onClose: () => void;
}

/** Changes a job's definition only for its graph: the farm checks the text while it is typed. */
export function CustomiseDialog({ detail: { graph, job, origin }, onClose }: Props) {
  const [text, setText] = useState(() => JSON.stringify(origin.patch ?? {}, undefined, 2));
  // The revision from which the text was made, not the newest: another user may change the job while this is open.
  const [after, setAfter] = useState(origin.revision);
  const [retrigger, setRetrigger] = useState(job.runs > 0);
  const [reason, setReason] = useState("");
  const help = useId();
  const read = readPatch(useDeferredValue(text));
  const request: Customise | undefined =
    read.kind === "problem" ? undefined : { job: job.name, patch: read.patch, retrigger, after };
  const { preview, apply } = useCustomising(graph.id, request);
  const named = reason.trim() === "" ? {} : { reason: reason.trim() };
  const problem = read.kind === "problem" ? read.problem : (apply.error ?? preview.error)?.message;
  return (
    <Modal title={`Customise ${job.name}`} onClose={onClose}>
      <div className="form">
        <label className="stacked">
          Changes
          <textarea
            rows={Math.min(16, Math.max(5, text.split("\n").length))}
            spellCheck={false}
            aria-describedby={help}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <p id={help} className="faint">
          A JSON merge patch of the definition: a value replaces the current one, and null removes
          it. The patch applies only to this graph, and the job is marked as customised.
        </p>
        <label>
          <input
            type="checkbox"
            checked={retrigger}
            onChange={(event) => setRetrigger(event.target.checked)}
          />{" "}
          and run it again
        </label>
        <label className="stacked">
          Why?
          <input type="text" value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        <div aria-live="polite" aria-busy={preview.isFetching}>
          {problem === undefined && preview.data !== undefined ? (
            <Outcome customised={preview.data} />
          ) : null}
        </div>
        {problem === undefined ? null : (
          <p role="alert" className="problem">
            {problem}
          </p>
        )}
        {origin.revision === after ? null : (
          <p>
            The job was customised while this dialog was open.{" "}
            <button
              type="button"
              onClick={() => {
                setText(JSON.stringify(origin.patch ?? {}, undefined, 2));
                setAfter(origin.revision);
                apply.reset();
              }}
            >
              Start from the current definition
            </button>
          </p>
        )}
      </div>
      <div className="row end">
        {origin.patch === null ? null : (
          <button
            type="button"
            disabled={apply.isPending}
            onClick={() =>
              apply.mutate(
                { job: job.name, patch: null, retrigger, after, ...named },
                { onSuccess: onClose },
              )
            }
          >
            Original definition
          </button>
        )}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={
            request === undefined || problem !== undefined || preview.isFetching || apply.isPending
          }
          onClick={() =>
            request !== undefined && apply.mutate({ ...request, ...named }, { onSuccess: onClose })
          }
        >
          {apply.isPending ? "Applying…" : "Customise"}
        </button>
      </div>
    </Modal>
  );
}

function Outcome({ customised: { changes, rerun } }: { readonly customised: CustomisedJob }) {
  return (
    <>
      <h3>Differences from the definitions</h3>
      {changes.length === 0 ? (
        <p className="faint">There is no difference: the job will not be customised.</p>
      ) : (
        <div className="diff-lines">
          <ChangedParts
            parts={changes.map(({ path, was, is }) => ({ path, before: was, after: is }))}
          />
        </div>
      )}
      {rerun === null ? null : <PlannedJobs change={rerun} />}
    </>
  );
}

/** Parses a JSON merge patch while a user types it. */
function readPatch(text: string): ReadPatch {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (reason) {
    return { kind: "problem", problem: `Not JSON yet: ${(reason as Error).message}` };
  }
  const patch = Patch.safeParse(value);
  return patch.success
    ? { kind: "patch", patch: patch.data }
    : { kind: "problem", problem: 'A patch is an object such as {"timeout": "20m"}.' };
}
