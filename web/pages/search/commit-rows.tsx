import { Link } from "@tanstack/react-router";
import type { SearchCommit } from "#api/search.ts";
import { StateIcon } from "../../parts/state.tsx";
import { shapeOfStanding, standingWords } from "./standing-words.ts";
import "./search.css";

export function CommitRows({ commits }: { readonly commits: readonly SearchCommit[] }) {
  return (
    <ol className="rows commits" aria-label="Commits">
      {commits.map(({ position, commit, standing, graphId, why }) => (
        <li key={position}>
          <StateIcon state={shapeOfStanding[standing]} silent />
          <span className="number faint">{position}</span>
          <code>{commit.slice(0, 12)}</code>
          <span className={standing === "unknown" ? "faint" : ""}>{standingWords[standing]}</span>
          <span className="faint ellipsis">{why}</span>
          {graphId === null ? (
            <span />
          ) : (
            <Link to="/graphs/$id" params={{ id: graphId }}>
              graph
            </Link>
          )}
        </li>
      ))}
    </ol>
  );
}
