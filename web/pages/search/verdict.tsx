import { Link } from "@tanstack/react-router";
import type { Search } from "#api/search.ts";

/** The result of a search, or its remaining range. */
export function Verdict({ search }: { readonly search: Search }) {
  const [first, ...others] = search.remaining;
  const isFound = search.state === "finished" && first !== undefined && others.length === 0;
  return (
    <div className="card search-verdict" aria-live="polite">
      {isFound ? (
        <p>
          The first bad commit is <code>{first.commit}</code>
          {first.graphId === null ? null : (
            <>
              {" "}
              <Link to="/graphs/$id" params={{ id: first.graphId }}>
                its graph
              </Link>
            </>
          )}
        </p>
      ) : search.kind === "bisect" && first !== undefined ? (
        <p>
          It is among <span className="number">{search.remaining.length}</span> commits
          {search.state === "running" ? " so far" : "; the results do not tell which one"}.
        </p>
      ) : null}
      {isFound || search.message === null ? null : <p className="faint">{search.message}</p>}
      {first === undefined && search.message === null ? (
        <p className="faint">{search.state === "running" ? "In progress." : "No result."}</p>
      ) : null}
    </div>
  );
}
