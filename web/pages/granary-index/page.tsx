import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import type { CommitIndexPage as Answer, CommitIndexSummary } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { Copyable } from "../../parts/copy.tsx";
import { durationText } from "../../parts/duration.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { GranaryHead } from "../granary/granary-head.tsx";
import { indexQuery } from "../granary/load.ts";
import { countText } from "../granary/words.ts";
import { shortKey } from "../granary-build/requested-list.tsx";
import "../granary/granary.css";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";

/** The requests of builds of one commit, in their order. */
export function CommitIndexPage() {
  const { commit } = useParams({ from: "/granary/indexes/$commit" });
  const search = useSearch({ from: "/granary/indexes/$commit" });
  const pages = useSuspenseInfiniteQuery(indexQuery({ commit, ...search }));
  const { data } = pages;
  const title = `Index of ${commit.slice(0, 10)}`;
  usePageTitle(title, "Granary");
  const index = data.pages[0]?.index;
  const results = data.pages.flatMap((page) => page.results);
  const gone = results.filter(({ here }) => !here).length;
  return (
    <div className="page granary-page">
      <GranaryHead title={title} project={search.project} />
      {index === undefined ? null : <Facts index={index} />}
      {gone === 0 ? null : (
        <p>
          {countText(gone, "result")} of the {numberText(results.length)} below{" "}
          {gone === 1 ? "is" : "are"} deleted: the store needed the space, or the result was
          replaced. A build makes them again.
        </p>
      )}
      {results.length === 0 ? (
        <p className="faint center">The index is empty.</p>
      ) : (
        <Results of={results} />
      )}
      <MoreButton pages={pages}>Load later results</MoreButton>
    </div>
  );
}

function Facts({ index }: { readonly index: CommitIndexSummary }) {
  return (
    <p className="row facts-line">
      <span>
        commit <Copyable text={index.commit} shown={index.commit.slice(0, 10)} label="commit" />
        {index.branch === "" ? "" : ` on ${shownText(index.branch)}`}
      </span>
      <span>
        environment <Copyable text={index.environment} label="environment" />
      </span>
      <span>
        {countText(index.entries, "result")}, {bytesText(index.bytes)}
      </span>
      <span>
        from {countText(index.builds, "build")}
        {index.complete ? ", one of which requested everything" : ""}
      </span>
      {index.targets.length === 0 ? null : <span>{index.targets.map(shownText).join(", ")}</span>}
      <span>
        changed <Ago time={index.updatedAt} />, used <Ago time={index.lastUsedAt} />
      </span>
      <Link
        to="/granary"
        search={{
          commit: index.commit,
          ...(index.project === "default" ? {} : { project: index.project }),
        }}
      >
        Builds of it
      </Link>
    </p>
  );
}

function Results({ of }: { readonly of: Answer["results"] }) {
  return (
    <ScrollableTable label="Results by first use">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">First used at</th>
            <th scope="col">Size</th>
            <th scope="col">Blobs</th>
            <th scope="col">Saves</th>
            <th scope="col">Stored</th>
          </tr>
        </thead>
        <tbody>
          {of.map((result) => (
            <tr key={`${result.namespace} ${result.key}`}>
              <th scope="row">
                <span className="faint">{shownText(result.namespace)}</span>{" "}
                <Copyable text={result.key} shown={shortKey(result.key)} label="key" />
              </th>
              <td>{durationText(result.firstMs)}</td>
              <td>{bytesText(result.bytes)}</td>
              <td>{numberText(result.blobs)}</td>
              <td>{result.savedMs === null ? "–" : durationText(result.savedMs)}</td>
              <td>{result.here ? "yes" : <strong className="is-failed">deleted</strong>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}
