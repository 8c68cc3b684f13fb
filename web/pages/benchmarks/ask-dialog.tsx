import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { mostRuns } from "#api/benchmark-request.ts";
import { Modal } from "../../parts/modal.tsx";
import { artifactsQuery, submitRequest, suitesQuery } from "./load.ts";
import { type AskForm, emptyForm, requestedRequest } from "./requested-request.ts";
import { Ticks } from "./ticks.tsx";

interface Props {
  readonly suite: string | undefined;
  readonly artifact: string | undefined;
  readonly onClose: () => void;
}

/** Requests the measurement of an artifact. Empty fields mean the suite's defaults. */
export function AskDialog({ suite, artifact = "", onClose }: Props) {
  const suites = useQuery(suitesQuery);
  const client = useQueryClient();
  const [form, setForm] = useState<AskForm>({ ...emptyForm, suite: suite ?? "", artifact });
  const list = useId();
  const chosen =
    suites.data?.suites.find(({ name }) => name === form.suite) ?? suites.data?.suites[0];
  const { data: known } = useQuery(artifactsQuery(chosen?.name ?? ""));
  const change = (next: Partial<AskForm>) => setForm((now) => ({ ...now, ...next }));
  const request =
    chosen === undefined ? undefined : requestedRequest({ ...form, suite: chosen.name });
  const submit = useMutation({
    mutationFn: submitRequest,
    onSuccess: () => client.invalidateQueries({ queryKey: ["benchmark-status"] }),
  });
  const error = suites.error ?? submit.error;
  return (
    <Modal title="Request a measurement" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (request !== undefined) submit.mutate(request);
        }}
      >
        {suites.data !== undefined && chosen === undefined ? (
          <p>
            There is no suite yet. <code>grange bench suite push</code> adds one.
          </p>
        ) : null}
        <div className="lab-fields">
          <label className="stacked">
            Suite
            <select
              value={chosen?.name ?? ""}
              onChange={({ target }) => setForm({ ...emptyForm, suite: target.value, artifact })}
            >
              {suites.data?.suites.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label className="stacked">
            Artifact
            <input
              required
              list={list}
              value={form.artifact}
              placeholder="a version, the date of a nightly, or a commit"
              onChange={({ target }) => change({ artifact: target.value })}
            />
          </label>
          <label className="stacked">
            Compare with
            <input
              list={list}
              value={form.parent}
              placeholder="its predecessor"
              onChange={({ target }) => change({ parent: target.value })}
            />
          </label>
          <label className="stacked">
            Interleaved pairs
            <select
              value={form.paired}
              onChange={({ target }) => change({ paired: target.value as AskForm["paired"] })}
            >
              <option value="">the default of the suite</option>
              <option value="yes">yes: also gives verdicts for noisy metrics</option>
              <option value="no">no</option>
            </select>
          </label>
          <label className="stacked">
            Runs of each case
            <input
              type="number"
              min={1}
              max={mostRuns}
              value={form.runs}
              placeholder="the default"
              onChange={({ target }) => change({ runs: target.value })}
            />
          </label>
        </div>
        <datalist id={list}>
          {known?.artifacts.map(({ tag }) => (
            <option key={tag} value={tag} />
          ))}
        </datalist>
        {chosen === undefined ? null : (
          <>
            {(["backends", "profiles", "targets"] as const).map((key) => (
              <Ticks
                key={key}
                legend={key}
                options={chosen[key]}
                ticked={form[key]}
                onChange={(next) => change({ [key]: next })}
              />
            ))}
            <details>
              <summary>
                Only some benchmarks{" "}
                {form.benchmarks.length === 0 ? "" : `(${form.benchmarks.length})`}
              </summary>
              <Ticks
                legend="benchmarks"
                options={[...new Set(chosen.benchmarks.map(({ name }) => name))]}
                ticked={form.benchmarks}
                onChange={(benchmarks) => change({ benchmarks })}
              />
            </details>
          </>
        )}
        <label>
          <input
            type="checkbox"
            checked={form.waits}
            onChange={({ target }) => change({ waits: target.checked })}
          />{" "}
          wait until the artifact is marked as ready
        </label>
        {error === null ? null : (
          <p role="alert" className="problem">
            {error.message}
          </p>
        )}
        <div aria-live="polite">
          {submit.data === undefined ? null : (
            <p>
              {submit.data.sentence}{" "}
              <Link to="/benchmarks/requests/$id" params={{ id: submit.data.request.id }}>
                See the request
              </Link>
            </p>
          )}
        </div>
        <div className="row end">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button
            type="submit"
            className="primary"
            disabled={request === undefined || submit.isPending}
          >
            {submit.isPending ? "Asking…" : "Ask"}
          </button>
        </div>
      </form>
    </Modal>
  );
}
