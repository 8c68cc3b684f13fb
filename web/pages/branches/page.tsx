import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Branch } from "#api/branch.ts";
import { Crumbs } from "../../parts/crumbs.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { TextField } from "../../parts/text-field.tsx";
import { Ago } from "../../parts/times.tsx";
import { BranchDetail } from "./branch-detail.tsx";
import { nameOfBranch, sourceText } from "./branch-words.ts";
import { branchesQuery } from "./load.ts";
import "./branches.css";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** The settings of each branch. The farm stores them, not the repository, so no merge overwrites them. */
export function BranchesPage() {
  const { name } = useParams({ from: "/repositories/$name/branches" });
  const search = useSearch({ from: "/repositories/$name/branches" });
  const navigate = useNavigate({ from: "/repositories/$name/branches" });
  const { data: branches } = useSuspenseQuery(branchesQuery(name));
  const generic = branches.find(({ branch }) => branch === "*");
  const chosen = search.branch ?? "*";
  const shown =
    branches.find(({ branch }) => branch === chosen) ??
    (generic && {
      ...generic,
      branch: chosen,
      own: null,
      history: [],
      catalog: null,
      next: { catalog: null, commit: null, problem: null },
      noticed: null,
    });
  usePageTitle("Branches", name);
  const show = (branch: string) => void navigate({ search: { branch }, replace: true });
  return (
    <div className="page">
      <Crumbs>
        <Link to="/repositories/$name" params={{ name }}>
          {name}
        </Link>
      </Crumbs>
      <h1>Branches</h1>
      <ScrollableTable label="Table of branches">
        <table className="figures branches">
          <thead>
            <tr>
              <th scope="col">branch</th>
              <th scope="col">protected</th>
              <th scope="col">customisable</th>
              <th scope="col">priority cap</th>
              <th scope="col">definitions from</th>
              <th scope="col">catalog</th>
              <th scope="col">since</th>
            </tr>
          </thead>
          <tbody>
            {branches.map((branch) => (
              <Line
                key={branch.branch}
                branch={branch}
                isShown={branch.branch === chosen}
                onShow={show}
              />
            ))}
          </tbody>
        </table>
      </ScrollableTable>
      <div className="other-branch">
        <TextField label="Set up another branch" placeholder="release" value="" onChange={show} />
      </div>
      {shown === undefined ? null : (
        <BranchDetail
          // A change by another user resets the form.
          key={`${shown.branch} ${shown.history[0]?.number ?? 0}`}
          repository={name}
          branch={shown}
          branches={branches}
        />
      )}
    </div>
  );
}

function Line(props: {
  readonly branch: Branch;
  readonly isShown: boolean;
  readonly onShow: (branch: string) => void;
}) {
  const { branch, resolved, catalog, next } = props.branch;
  return (
    <tr aria-current={props.isShown}>
      <th scope="row">
        <button type="button" className="quiet name" onClick={() => props.onShow(branch)}>
          {nameOfBranch(branch)}
        </button>
      </th>
      <td>{resolved.protected ? "protected" : "no"}</td>
      <td>{resolved.customisable ? "yes" : "no"}</td>
      <td>{resolved.priorityCap ?? "none"}</td>
      <td>{sourceText(resolved.source)}</td>
      <td title={next.problem ?? undefined}>
        {next.problem !== null ? (
          "not found"
        ) : next.catalog === null ? (
          "–"
        ) : (
          <code>{next.catalog.slice(0, 8)}</code>
        )}
      </td>
      <td>
        {catalog === null || catalog.catalog !== next.catalog ? "–" : <Ago time={catalog.since} />}
      </td>
    </tr>
  );
}
