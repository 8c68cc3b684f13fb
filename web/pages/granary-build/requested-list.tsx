import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { GranaryBuildReport, LateReason, RequestedResult } from "#api/granary.ts";
import { bytesText } from "../../parts/bytes.ts";
import { Copyable } from "../../parts/copy.tsx";
import { durationText } from "../../parts/duration.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { shownText } from "../../parts/shown-text.ts";
import type { GranaryBuildSearch } from "../granary/search.ts";
import {
  becauseAdvice,
  countText,
  lateReasonTexts,
  sourceSentences,
  sources,
  sourceWords,
} from "../granary/words.ts";

const atOnce = 100;

/** All requests, filtered by their source and by the reason for a delay. */
export function RequestedList({ build }: { readonly build: GranaryBuildReport }) {
  const search = useSearch({ from: "/granary/builds/$id" });
  const navigate = useNavigate({ from: "/granary/builds/$id" });
  const [most, setMost] = useState(atOnce);
  const findBox = useRef<HTMLInputElement>(null);
  useHotkeys({ "/": () => findBox.current?.focus() });
  const change = (next: GranaryBuildSearch) => {
    setMost(atOnce);
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  };

  const reasons = countReasons(build.asked);
  const shown = build.asked.filter((result) => isShown(result, search));
  return (
    <>
      <div className="row granary-filters">
        <div className="segments" role="group" aria-label="Where it came from">
          <button
            type="button"
            aria-pressed={search.source === undefined}
            onClick={() => change({ source: undefined })}
          >
            All
          </button>
          {sources.map((source) => (
            <button
              key={source}
              type="button"
              aria-pressed={search.source === source}
              title={sourceSentences[source]}
              onClick={() => change({ source: search.source === source ? undefined : source })}
            >
              {sourceWords[source]} {numberText(build.counts[source])}
            </button>
          ))}
        </div>
        <SearchBox
          label="Filter by key"
          placeholder="Filter   /"
          value={search.find ?? ""}
          box={findBox}
          onChange={(find) => change({ find: find || undefined })}
        />
      </div>
      {reasons.length === 0 ? null : (
        <ul className="reasons" aria-label="Why it was late or missing">
          {reasons.map(([because, count]) => (
            <li key={because}>
              <button
                type="button"
                aria-pressed={search.because === because}
                onClick={() =>
                  change({ because: search.because === because ? undefined : because })
                }
              >
                {numberText(count)} × {lateReasonTexts[because]}
              </button>{" "}
              <span className="faint">{becauseAdvice[because]}</span>
            </li>
          ))}
        </ul>
      )}
      {shown.length === 0 ? (
        <p className="faint center">
          {build.asked.length === 0 ? "The build requested nothing." : "No result matches."}
        </p>
      ) : (
        <RequestedTable asked={shown.slice(0, most)} />
      )}
      {shown.length > most ? (
        <button type="button" className="more" onClick={() => setMost(most + 5 * atOnce)}>
          Show more of {countText(shown.length, "result")}
        </button>
      ) : null}
    </>
  );
}

function isShown({ because, key, namespace, source }: RequestedResult, search: GranaryBuildSearch) {
  return (
    (search.source === undefined || search.source === source) &&
    (search.because === undefined || search.because === because) &&
    `${namespace} ${key}`.toLowerCase().includes((search.find ?? "").toLowerCase())
  );
}

/** Returns the reasons, the most frequent first. */
function countReasons(
  asked: readonly RequestedResult[],
): readonly (readonly [LateReason, number])[] {
  const counts = new Map<LateReason, number>();
  for (const { because } of asked) {
    if (because !== null) counts.set(because, (counts.get(because) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

function RequestedTable({ asked }: { readonly asked: readonly RequestedResult[] }) {
  return (
    <ScrollableTable label="Requested results">
      <table className="figures asked">
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">Source</th>
            <th scope="col">Why</th>
            <th scope="col">Requested at</th>
            <th scope="col">Early by</th>
            <th scope="col">Waited</th>
            <th scope="col">Size</th>
            <th scope="col">Work saved</th>
          </tr>
        </thead>
        <tbody>
          {asked.map((result, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a build may ask for one result twice
            <tr key={n}>
              <th scope="row">
                <span className="faint">{shownText(result.namespace)}</span>{" "}
                <Copyable text={result.key} shown={shortKey(result.key)} label="key" />
              </th>
              <td>
                <span className={`swatch of-${result.source}`} aria-hidden="true" />{" "}
                {sourceWords[result.source]}
              </td>
              <td>{result.because === null ? "" : lateReasonTexts[result.because]}</td>
              <td>{durationText(result.atMs)}</td>
              <td>{result.leadMs === null ? "–" : durationText(result.leadMs)}</td>
              <td>{result.waitedMs === 0 ? "not" : durationText(result.waitedMs)}</td>
              <td>{result.bytes === 0 ? "–" : bytesText(result.bytes)}</td>
              <td>{result.savedMs === null ? "–" : durationText(result.savedMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

export function shortKey(key: string): string {
  const shown = shownText(key);
  return shown.length <= 28 ? shown : `${shown.slice(0, 18)}…${shown.slice(-8)}`;
}
