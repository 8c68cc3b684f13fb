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

const dayMs = 24 * 60 * 60_000;

/** How long graphs and records are kept, and which graphs have labels that keep them. */
export function RetentionPage() {
  const { data } = useSuspenseQuery(retentionQuery);
  usePageTitle("Retention");
  return (
    <div className="page">
      <h1>Retention</h1>
      <p className="faint">
        A graph goes when the rule of its branch lets it go and no graph that stays needs it. The
        more specific branch decides. Graphs that no rule is for are kept.
      </p>
      <Rules rules={data.rules} />
      <RuleForm />
      <h2>Records</h2>
      <ul>
        {data.ages.map(({ kind, keepMs }) => (
          <li key={kind}>
            {kind}: {keptFor(keepMs)}
          </li>
        ))}
      </ul>
      <h2>Labels</h2>
      {data.holds.length === 0 ? (
        <p className="faint">No graph has a label that keeps it.</p>
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
          <th>Newest kept</th>
          <th>At most</th>
          <th>Set by</th>
        </tr>
      </thead>
      <tbody>
        {rules.map(({ repository, branch, keepMs, keepNewest, most, setBy }) => (
          <tr key={`${repository} ${branch}`}>
            <td>{shownText(repository)}</td>
            <td>{shownText(branch)}</td>
            <td>{keptFor(keepMs)}</td>
            <td>{keepNewest}</td>
            <td>{most ?? "any number"}</td>
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
        label="Days"
        title="0 keeps for ever"
        min={0}
        max={36_500}
        value={days}
        onChange={setDays}
      />
      <NumberField label="Newest kept" min={0} max={100_000} value={newest} onChange={setNewest} />
      <button type="submit" className="primary" disabled={setting.isPending}>
        Set rule
      </button>
      {setting.error === null ? null : <p role="alert">{setting.error.message}</p>}
    </form>
  );
}

function keptFor(ms: number | null): string {
  if (ms === null) return "ever";
  const days = ms / dayMs;
  return `${Number(days.toFixed(days < 2 ? 2 : 0))} days`;
}
