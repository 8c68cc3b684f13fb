import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Branch, BranchBody } from "#api/branch.ts";
import { type BranchForm, bodyOf, formOf } from "./branch-form.ts";
import { branchesQuery, sayOfBranch } from "./load.ts";
import { SourceFields } from "./source-fields.tsx";

interface Props {
  readonly repository: string;
  readonly branch: Branch;
}

/** Changes a branch's settings. Empty fields are inherited. */
export function BranchEditor({ repository, branch }: Props) {
  const client = useQueryClient();
  const [form, setForm] = useState(() => formOf(branch.own));
  const [why, setWhy] = useState("");
  const change = (next: Partial<BranchForm>) => setForm((now) => ({ ...now, ...next }));
  const body = bodyOf(form);
  const isChanged = JSON.stringify(form) !== JSON.stringify(formOf(branch.own));
  const say = useMutation({
    mutationFn: (said: BranchBody | null) =>
      sayOfBranch({
        repository,
        branch: branch.branch,
        body: said,
        why: why.trim(),
        after: branch.history[0]?.number ?? 0,
        dryRun: false,
      }),
    onSuccess: () => client.invalidateQueries(branchesQuery(repository)),
  });
  // Settings for all branches inherit from nothing.
  const unsaid = branch.branch === "*" ? "as usual" : "inherited";
  const problem = typeof body === "string" ? body : say.error?.message;
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <div className="form-line">
        <YesNo
          label="Protected"
          title="Only signed and uncustomised definitions run there"
          unsaid={unsaid}
          value={form.protected}
          onChange={(value) => change({ protected: value })}
        />
        <YesNo
          label="Customisable"
          title="Whether jobs may be changed for one graph"
          unsaid={unsaid}
          value={form.customisable}
          onChange={(value) => change({ customisable: value })}
        />
        <label className="stacked">
          Priority cap
          <input
            type="text"
            placeholder={unsaid}
            title="The highest priority of its graphs, or: none"
            value={form.priorityCap}
            onChange={(event) => change({ priorityCap: event.target.value })}
          />
        </label>
      </div>
      <Json
        label="Switches"
        placeholder={`${unsaid}; or {"pgo": true}`}
        value={form.switches}
        onChange={(switches) => change({ switches })}
      />
      <Json
        label="Parameters"
        placeholder={`${unsaid}; or {"level": 3}`}
        value={form.parameters}
        onChange={(parameters) => change({ parameters })}
      />
      <SourceFields form={form} unsaid={unsaid} onChange={change} />
      <label className="stacked">
        Why?
        <input type="text" value={why} onChange={(event) => setWhy(event.target.value)} />
      </label>
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <div className="button-row">
        <button
          type="submit"
          className="primary"
          disabled={typeof body === "string" || !isChanged || say.isPending}
          onClick={() => typeof body !== "string" && say.mutate(body)}
        >
          {say.isPending ? "Saving…" : "Save"}
        </button>
        {branch.own === null ? null : (
          <button type="button" disabled={say.isPending} onClick={() => say.mutate(null)}>
            Reset everything
          </button>
        )}
      </div>
    </form>
  );
}

function YesNo(props: {
  readonly label: string;
  readonly title: string;
  readonly unsaid: string;
  readonly value: "" | "yes" | "no";
  readonly onChange: (value: "" | "yes" | "no") => void;
}) {
  return (
    <label className="stacked" title={props.title}>
      {props.label}
      <select
        value={props.value}
        onChange={(event) => props.onChange(event.target.value as "" | "yes" | "no")}
      >
        <option value="">{props.unsaid}</option>
        <option value="yes">yes</option>
        <option value="no">no</option>
      </select>
    </label>
  );
}

function Json(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  return (
    <label className="stacked">
      {props.label}
      <textarea
        rows={Math.max(2, props.value.split("\n").length)}
        placeholder={props.placeholder}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </label>
  );
}
