import { Link } from "@tanstack/react-router";
import type { Branch, BranchChange, NoticedDefinitions } from "#api/branch.ts";
import { Copyable } from "../../parts/copy.tsx";
import { definitionText } from "../../parts/definition-text.ts";
import { Ago } from "../../parts/times.tsx";
import { BranchEditor } from "./branch-editor.tsx";
import { nameOfBranch } from "./branch-words.ts";

interface Props {
  readonly repository: string;
  readonly branch: Branch;
  readonly branches: readonly Branch[];
}

export function BranchDetail({ repository, branch, branches }: Props) {
  const { catalog, next, noticed, resolved } = branch;
  return (
    <section className="branch-detail" aria-label={nameOfBranch(branch.branch)}>
      <div>
        <h2>Settings of {nameOfBranch(branch.branch)}</h2>
        <BranchEditor repository={repository} branch={branch} />
      </div>
      <div className="branch-holds">
        <h2>Current settings</h2>
        <pre className="definition" tabIndex={0}>
          {definitionText(resolved)}
        </pre>
        <p className="row facts-line">
          {next.problem === null ? null : (
            <span role="alert" className="problem">
              The next graph cannot load its definitions: {next.problem}
            </span>
          )}
          {next.catalog === null ? null : (
            <span>
              the next graph uses{" "}
              <Copyable text={next.catalog} shown={next.catalog.slice(0, 8)} label="catalog" />
              {next.commit === null ? null : (
                <>
                  {" "}
                  of commit <code>{next.commit.slice(0, 10)}</code>
                </>
              )}
            </span>
          )}
        </p>
        {noticed === null ? null : <Noticed noticed={noticed} />}
        {catalog === null || catalog.catalog === next.catalog ? null : (
          <p className="row facts-line">
            <span>
              {catalog.commit === null ? "pushed" : "used last"}{" "}
              <Copyable
                text={catalog.catalog}
                shown={catalog.catalog.slice(0, 8)}
                label="catalog"
              />
            </span>
            <span>
              by {catalog.setBy}, <Ago time={catalog.since} />
            </span>
          </p>
        )}
        <CompareLinks repository={repository} branch={branch} branches={branches} />
        <h2>History</h2>
        {branch.history.length === 0 ? <p className="faint">There are no settings yet.</p> : null}
        <ol className="history">
          {branch.history.map((change) => (
            <Change key={change.number} change={change} />
          ))}
        </ol>
      </div>
    </section>
  );
}

function CompareLinks({ repository, branch, branches }: Props) {
  if (!hasDefinitions(branch)) return null;
  const others = branches.filter(
    (other) => hasDefinitions(other) && other.branch !== branch.branch,
  );
  if (others.length === 0) return null;
  return (
    <p className="row facts-line">
      Compare its definitions with
      {others.map((other) => (
        <Link
          key={other.branch}
          to="/catalogs/diff"
          search={{ repository, a: other.branch, b: branch.branch }}
        >
          {other.branch}
        </Link>
      ))}
    </p>
  );
}

function hasDefinitions({ catalog, next }: Branch): boolean {
  return catalog !== null || next.catalog !== null;
}

function Change({ change }: { readonly change: BranchChange }) {
  return (
    <li>
      <details>
        <summary>
          {change.setBy} {change.body === null ? "reset it" : "said it"} <Ago time={change.setAt} />
          {change.why === null ? null : <span className="faint"> {change.why}</span>}
        </summary>
        <pre className="definition" tabIndex={0}>
          {change.body === null ? "(nothing)" : definitionText(change.body)}
        </pre>
      </details>
    </li>
  );
}

/** Changes that the farm found in the repository of the definitions, without a submission. */
function Noticed({ noticed }: { readonly noticed: NoticedDefinitions }) {
  const { catalog, commit, since, problem } = noticed;
  return (
    <p className="row facts-line">
      {catalog === null || commit === null || since === null ? null : (
        <span>
          source: commit <code>{commit.slice(0, 10)}</code>, definitions{" "}
          <Copyable text={catalog} shown={catalog.slice(0, 8)} label="catalog" />, found{" "}
          <Ago time={since} />
        </span>
      )}
      {problem === null ? null : <span className="problem">Source: {problem}</span>}
    </p>
  );
}
