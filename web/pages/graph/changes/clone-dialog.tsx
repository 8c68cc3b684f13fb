import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import type { Clone, CloneMode } from "#api/rerun.ts";
import { call } from "../../../farm/ask.ts";
import { Modal } from "../../../parts/modal.tsx";
import { newId } from "../../../parts/new-id.ts";
import { CloneForms } from "./clone-forms.tsx";
import "./changes.css";

const modes: Readonly<Record<CloneMode, string>> = {
  "as-it-ran": "as it ran, with manual changes",
  uncustomised: "with its original definitions, without manual changes",
  today: "with today's definitions",
};

interface Props {
  readonly graphId: string;
  readonly onClose: () => void;
}

/** Creates a similar graph. Runs and results are never cloned; jobs with a cached result do not run again. */
export function CloneDialog({ graphId, onClose }: Props) {
  const navigate = useNavigate();
  const [mode, setMode] = useState<CloneMode>("as-it-ran");
  const [selection, setSelection] = useState("");
  const [ownSet, setOwnSet] = useState(false);
  const [id] = useState(newId);
  const chosen = useDeferredValue(selection.trim());
  const request: Clone = { mode, ownSet, ...(chosen === "" ? {} : { selection: chosen }) };
  const params = { graph: graphId };
  const preview = useQuery({
    queryKey: ["clone", graphId, request],
    queryFn: () => call(rerunEndpoints.clone, { params, body: { ...request, dryRun: true } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const clone = useMutation({
    mutationFn: () => call(rerunEndpoints.clone, { params, body: { ...request, id } }),
    onSuccess: ({ graph }) =>
      graph !== null && navigate({ to: "/graphs/$id", params: { id: graph.id } }),
  });
  const problem = clone.error ?? preview.error;
  const isReady = preview.data !== undefined && !preview.isFetching && preview.error === null;
  return (
    <Modal title="Clone this graph" onClose={onClose}>
      <div className="form">
        <fieldset className="choices">
          <legend>A new graph</legend>
          {Object.entries(modes).map(([each, words]) => (
            <label key={each}>
              <input
                type="radio"
                name="clone-mode"
                checked={each === mode}
                onChange={() => setMode(each as CloneMode)}
              />{" "}
              {words}
            </label>
          ))}
        </fieldset>
        <label className="stacked">
          Only these jobs, and what they need
          <input
            type="text"
            placeholder="empty: all jobs; example: kind:test & !windows"
            value={selection}
            onChange={(event) => setSelection(event.target.value)}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={ownSet}
            onChange={(event) => setOwnSet(event.target.checked)}
          />{" "}
          in a set of its own
        </label>
        <div aria-live="polite" aria-busy={preview.isFetching}>
          {preview.data === undefined || preview.error !== null ? null : (
            <CloneForms clone={preview.data} mode={mode} />
          )}
        </div>
        {problem === null ? null : (
          <p role="alert" className="problem">
            {problem.message}
          </p>
        )}
      </div>
      <div className="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={!isReady || clone.isPending}
          onClick={() => clone.mutate()}
        >
          {clone.isPending ? "Cloning…" : "Clone"}
        </button>
      </div>
    </Modal>
  );
}
