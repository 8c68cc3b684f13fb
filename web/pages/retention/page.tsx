import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { retentionEndpoints } from "#api/endpoints/retention-endpoints.ts";
import type { Retention } from "#api/retention.ts";
import { call } from "../../farm/ask.ts";
import { NumberField } from "../../parts/number-field.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { TextField } from "../../parts/text-field.tsx";
import { Ago } from "../../parts/times.tsx";
import { retentionQuery } from "./load.ts";
import "./retention.css";

const dayMs = 24 * 60 * 60_000;

/** How long graphs and records are kept, and which graphs have labels that keep them. */
export function RetentionPage() {
  const { data } = useSuspenseQuery(retentionQuery);
  usePageTitle("Retention");
  return (
    <div className="page retention">
      <h1>Retention</h1>
      <section className="card">
        <h2>Graphs</h2>
        <p className="faint">
          Each graph follows one rule: the most specific one for its repository and branch. A graph
          is deleted when its rule allows it and no graph that is kept needs it. A graph that
          matches no rule is kept.
        </p>
        <Rules rules={data.rules} />
        <h3>Add or replace a rule</h3>
        <RuleForm />
      </section>
      <section className="card">
        <h2>Records</h2>
        <table className="figures">
          <thead>
            <tr>
              <th>Kind</th>
              <th>Kept for</th>
            </tr>
          </thead>
          <tbody>
            {data.ages.map(({ kind, keepMs }) => (
              <tr key={kind}>
                <th scope="row">{kind}</th>
                <td>{keptFor(keepMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="faint">
          Change it with <code>grange retention age KIND TIME</code>.
        </p>
      </section>
      <section className="card">
        <h2>Labels that keep a graph</h2>
        {data.holds.length === 0 ? (
          <p className="faint">
            No graph has one. <code>grange retention hold GRAPH --label LABEL</code> keeps a graph
            until the label is removed.
          </p>
        ) : null}
        <ul>
          {data.holds.map(({ graph, label, why, setBy, setAt }) => (
            <li key={`${graph} ${label}`}>
              <Link to="/graphs/$id" params={{ id: graph }}>
                <code>{graph.slice(0, 8)}</code>
              </Link>{" "}
              {label}
              {why === null ? "" : `: ${shownText(why)}`}{" "}
              <span className="faint">
                {shownText(setBy)}, <Ago time={setAt} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Rules({ rules }: { readonly rules: Retention["rules"] }) {
  return (
    <table className="figures">
      <thead>
        <tr>
          <th>Repository</th>
          <th>Branch</th>
          <th>Kept for</th>
          <th>Always kept</th>
          <th>Limit</th>
          <th>Set by</th>
        </tr>
      </thead>
      <tbody>
        {rules.map(({ repository, branch, keepMs, keepNewest, most, setBy }) => (
          <tr key={`${repository} ${branch}`}>
            <td>{shownText(repository)}</td>
            <td>{shownText(branch)}</td>
            <td>{keptFor(keepMs)}</td>
            <td>{keepNewest === 0 ? "–" : `the newest ${keepNewest}`}</td>
            <td>{most === null ? "no limit" : `${most} graphs`}</td>
            <td>{shownText(setBy)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Sets a rule, which replaces the existing one of the repository and the branch. */
function RuleForm() {
  const client = useQueryClient();
  const [repository, setRepository] = useState("*");
  const [branch, setBranch] = useState("*");
  const [days, setDays] = useState(180);
  const [newest, setNewest] = useState(50);
  const setting = useMutation({
    mutationFn: () =>
      call(retentionEndpoints.setRetentionRule, {
        body: {
          repository,
          branch,
          keepMs: days === 0 ? null : days * dayMs,
          keepNewest: newest,
          most: null,
        },
      }),
    onSuccess: (retention) => client.setQueryData(retentionQuery.queryKey, retention),
  });
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        setting.mutate();
      }}
    >
      <TextField
        label="Repository"
        title="A repository's name, or * for all"
        value={repository}
        isLive
        onChange={setRepository}
      />
      <TextField
        label="Branch"
        title="A branch, a pattern with *, or @protected"
        value={branch}
        isLive
        onChange={setBranch}
      />
      <NumberField
        label="Kept for (days)"
        title="0: forever"
        min={0}
        max={36_500}
        value={days}
        onChange={setDays}
      />
      <NumberField
        label="Always keep the newest"
        min={0}
        max={100_000}
        value={newest}
        onChange={setNewest}
      />
      <button type="submit" className="primary" disabled={setting.isPending}>
        Set rule
      </button>
      {setting.error === null ? null : <p role="alert">{setting.error.message}</p>}
    </form>
  );
}

function keptFor(ms: number | null): string {
  if (ms === null) return "forever";
  const days = ms / dayMs;
  return `${Number(days.toFixed(days < 2 ? 2 : 0))} days`;
}
