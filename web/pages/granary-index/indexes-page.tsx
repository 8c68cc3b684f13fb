import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { CommitIndexSummary } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { GranaryHead } from "../granary/granary-head.tsx";
import { indexesQuery } from "../granary/load.ts";
import "../granary/granary.css";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** Commits with known requests of their builds. */
export function CommitIndexesPage() {
  const { project } = useSearch({ from: "/granary/indexes" });
  const { indexes } = useSuspenseQuery(indexesQuery(project)).data;
  usePageTitle("Indexes", "Granary");
  return (
    <div className="page granary-page">
      <GranaryHead title="Indexes of commits" project={project} />
      {indexes.length === 0 ? (
        <EmptyState title="No indexes yet" command="grange exec -- make">
          The requests of a build of a clean commit become that commit’s index, and all results in
          it are prefetched for the next build of this commit or a later one. Build a commit:
        </EmptyState>
      ) : (
        <IndexTable indexes={indexes} />
      )}
    </div>
  );
}

function IndexTable({ indexes }: { readonly indexes: readonly CommitIndexSummary[] }) {
  return (
    <ScrollableTable label="Indexes">
      <table className="figures indexes">
        <thead>
          <tr>
            <th scope="col">Commit</th>
            <th scope="col">Branch</th>
            <th scope="col">Environment</th>
            <th scope="col">Results</th>
            <th scope="col">Size</th>
            <th scope="col" title="Number of builds that the index was made from">
              Builds
            </th>
            <th scope="col">Complete</th>
            <th scope="col">Changed</th>
            <th scope="col">Used</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={`${index.repository} ${index.commit} ${index.environment}`}>
              <th scope="row">
                <Link
                  to="/granary/indexes/$commit"
                  params={{ commit: index.commit }}
                  search={addressOf(index)}
                >
                  <code>{index.commit.slice(0, 10)}</code>
                </Link>
                {index.repository === "" ? null : (
                  <span className="faint"> {shownText(index.repository)}</span>
                )}
              </th>
              <td>{index.branch === "" ? "–" : shownText(index.branch)}</td>
              <td>
                <code title={index.environment}>{index.environment.slice(0, 12)}</code>
              </td>
              <td>{numberText(index.entries)}</td>
              <td>{bytesText(index.bytes)}</td>
              <td>{numberText(index.builds)}</td>
              <td>{index.complete ? "yes" : "not known"}</td>
              <td>
                <Ago time={index.updatedAt} />
              </td>
              <td>
                <Ago time={index.lastUsedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

function addressOf({ environment, project, repository }: CommitIndexSummary) {
  return { environment, repository, ...(project === "default" ? {} : { project }) };
}
