import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { CatalogDiff } from "#api/catalog.ts";
import { Crumbs } from "../../parts/crumbs.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { TextField } from "../../parts/text-field.tsx";
import { ChangedNames } from "./changed-names.tsx";
import { catalogDiffQuery } from "./load.ts";
import "./catalog-diff.css";

/** The differences between two sets of definitions, before anything runs. */
export function CatalogDiffPage() {
  const search = useSearch({ from: "/catalogs/diff" });
  const navigate = useNavigate({ from: "/catalogs/diff" });
  const { data: diff, error, isFetching } = useQuery(catalogDiffQuery(search));
  usePageTitle("Definitions compared");
  return (
    <div className="page">
      {search.repository === undefined ? null : (
        <Crumbs>
          <Link to="/repositories/$name" params={{ name: search.repository }}>
            {search.repository}
          </Link>
        </Crumbs>
      )}
      <h1>Definitions compared</h1>
      <form className="row sides" onSubmit={(event) => event.preventDefault()}>
        <TextField
          label="Repository"
          placeholder="of the branches and revisions"
          value={search.repository ?? ""}
          onChange={(text) =>
            void navigate({
              search: (now) => ({ ...now, repository: text === "" ? undefined : text }),
              replace: true,
            })
          }
        />
        {(["a", "b"] as const).map((side) => (
          <TextField
            key={side}
            label={side === "a" ? "From" : "To"}
            placeholder={
              search.repository === undefined
                ? "digest, or repository@branch"
                : "branch, revision or digest"
            }
            value={search[side] ?? ""}
            onChange={(text) =>
              void navigate({ search: (now) => ({ ...now, [side]: text }), replace: true })
            }
          />
        ))}
      </form>
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      <div aria-live="polite" aria-busy={isFetching}>
        {diff === undefined ? null : <Differences diff={diff} />}
        {(search.a ?? "") !== "" && (search.b ?? "") !== "" ? null : (
          <p className="faint">
            Fill in <em>From</em> and <em>To</em>, for example two branches of a repository. This
            page then lists the jobs and edges in which their definitions differ.
          </p>
        )}
      </div>
    </div>
  );
}

function Differences({ diff }: { readonly diff: CatalogDiff }) {
  if (diff.same && diff.switchValues.length === 0) {
    return (
      <p>
        Both are the same: <code>{diff.a.digest.slice(0, 12)}</code>. There are no changes.
      </p>
    );
  }
  return (
    <div className="differences">
      <ChangedNames title="Jobs" changes={diff.jobs} />
      {diff.edges.length === 0 ? null : (
        <section>
          <h2>Edges</h2>
          <ul className="diff-lines">
            {diff.edges.map(({ job, on, before, after }) => (
              <li key={`${job} ${on}`} className={sign(before, after)}>
                {job} waits for {on}{" "}
                <span className="faint">
                  {before !== null && after !== null
                    ? `on ${after}, not on ${before}`
                    : `on ${after ?? before}`}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ChangedNames title="Switches" changes={diff.switches} />
      {diff.switchValues.length === 0 ? null : (
        <section>
          <h2>Values of switches on these branches</h2>
          <ul className="diff-lines">
            {diff.switchValues.map(({ name, before, after }) => (
              <li key={name} className="changed">
                {name}: {String(before ?? "none")} → {String(after ?? "none")}
              </li>
            ))}
          </ul>
        </section>
      )}
      <ChangedNames title="Parameters" changes={diff.parameters} />
      <ChangedNames title="Graphs" changes={diff.graphs} />
    </div>
  );
}

function sign(before: string | null, after: string | null): string {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}
