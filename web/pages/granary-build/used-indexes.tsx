import { Link } from "@tanstack/react-router";
import type { GranaryBuildReport } from "#api/granary.ts";
import { numberText } from "../../parts/number-text.ts";
import { countText, indexWords } from "../granary/words.ts";

/** The indexes by which the granary predicted the build's requests. */
export function UsedIndexes({ build }: { readonly build: GranaryBuildReport }) {
  const { environment, indexes, notAhead, project, repository } = build;
  return (
    <section aria-labelledby="indexes">
      <h2 id="indexes">Indexes used</h2>
      {indexes.length === 0 ? (
        <p className="faint">{whyNone[notAhead ?? "not-known"]}</p>
      ) : (
        <ul className="used-indexes">
          {indexes.map((index) => (
            <li key={`${index.source} ${index.commit}`}>
              <Link
                to="/granary/indexes/$commit"
                params={{ commit: index.commit }}
                search={{
                  environment,
                  repository,
                  ...(project === "default" ? {} : { project }),
                }}
              >
                <code>{index.commit.slice(0, 10)}</code>
              </Link>
              : {indexWords[index.source]}
              {index.distance === 0 ? "" : `, ${countText(index.distance, "commit")} away`},{" "}
              {countText(index.entries, "result")}
              {(index.dropped ?? 0) === 0
                ? ""
                : `, ${numberText(index.dropped ?? 0)} of them with inputs that have changed since`}
              {index.complete ? "" : "; from a build that may not have requested everything"}
            </li>
          ))}
        </ul>
      )}
      {build.truncated.includes("index") ? (
        <p className="faint">An index was too long, and only a part was read.</p>
      ) : null}
    </section>
  );
}

const whyNone: Readonly<Record<NonNullable<GranaryBuildReport["notAhead"]> | "not-known", string>> =
  {
    "not-known":
      "None: no earlier build of this repository in this environment has reported its requests.",
    "not-wished": "None: prefetching was disabled for this build.",
    wasteful:
      "None: the last builds of this command did not use more than half of the prefetched data. The granary tries prefetching again after ten builds.",
  };
