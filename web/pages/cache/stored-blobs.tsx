import { useState } from "react";
import type { StoreContents } from "#api/store-contents.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { wholeDurationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { ScrollableTable } from "../../parts/scrollable-table.tsx";
import { countText, shareText } from "../../parts/share-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";

const nextShown = 8;

/** What the store has, by project and by the last use of its blobs, and what is removed from it next. */
export function StoredBlobs({ contents }: { readonly contents: StoreContents }) {
  const { countedAt, projects } = contents;
  if (countedAt === null) {
    return (
      <p role="status">
        The server has not counted the store yet. It does so about a minute after its start, and
        then once an hour.
      </p>
    );
  }
  return (
    <>
      <p>
        {contents.farm === null ? null : <Fullness of={contents.farm} />}{" "}
        <span className="faint">
          Counted <Ago time={countedAt} />.
        </span>
      </p>
      {projects.length === 0 ? (
        <p role="status">You may read no project that has blobs.</p>
      ) : (
        <ProjectsTable contents={contents} />
      )}
      <h2 id="next">Removed next</h2>
      <RemovedNext contents={contents} />
    </>
  );
}

function Fullness({ of }: { readonly of: NonNullable<StoreContents["farm"]> }) {
  const { bytes, blobs, limitBytes } = of;
  return (
    <>
      The store has <strong className="number">{memorySizeText(bytes)}</strong> in{" "}
      {countText(blobs, "blob")}
      {limitBytes === null ? (
        "; it may grow until its disk is nearly full."
      ) : (
        <>
          , {shareText(bytes, limitBytes)} of its limit of {memorySizeText(limitBytes)}.{" "}
          <meter
            aria-label="How full the store is"
            min={0}
            max={limitBytes}
            high={limitBytes * 0.99}
            value={bytes}
          />
        </>
      )}
    </>
  );
}

function ProjectsTable({ contents }: { readonly contents: StoreContents }) {
  const { projects, idleClassesMs } = contents;
  const all = contents.farm?.bytes ?? projects.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <ScrollableTable label="Blobs by project">
      <table className="figures">
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col">Size</th>
            <th scope="col">Share</th>
            <th scope="col">Blobs</th>
            {idleClassesMs.map((from, n) => (
              <th key={from} scope="col">
                {idleWords(from, idleClassesMs[n + 1])}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {projects.map(({ project, directory, blobs, bytes, idleBytes }) => (
            <tr key={directory}>
              <th scope="row">
                {project === null ? <code>{directory}</code> : shownText(project)}
              </th>
              <td>{memorySizeText(bytes)}</td>
              <td>{shareText(bytes, all)}</td>
              <td>{numberText(blobs)}</td>
              {idleClassesMs.map((from, n) => (
                <td key={from}>{memorySizeText(idleBytes[n] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollableTable>
  );
}

/** Names a class of time since the last use. */
function idleWords(fromMs: number, toMs: number | undefined): string {
  const hours = (ms: number) => wholeDurationText(Math.floor(ms / 3_600_000) * 3_600_000);
  if (toMs === undefined) return `unused for ${hours(fromMs)}`;
  return fromMs === 0
    ? `used in the last ${hours(toMs)}`
    : `${hours(fromMs)} to ${hours(toMs)} ago`;
}

function RemovedNext({ contents: { next } }: { readonly contents: StoreContents }) {
  const [isLong, setLong] = useState(false);
  if (next.length === 0) {
    return (
      <p className="faint">
        Every blob was used within the last 3 hours, or is needed by work that runs.
      </p>
    );
  }
  return (
    <>
      <p className="faint">
        Blobs are removed when the store reaches its limit or its disk is nearly full: the least
        recently used first, and large ones sooner. A use, or work that needs a blob, takes it off
        this list.
      </p>
      <ScrollableTable label="Table of blobs">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Blob</th>
              <th scope="col">Project</th>
              <th scope="col">Size</th>
              <th scope="col">Last used</th>
              <th scope="col">Kept longer</th>
            </tr>
          </thead>
          <tbody>
            {next.slice(0, isLong ? undefined : nextShown).map((blob) => (
              <tr key={`${blob.project} ${blob.digest}`}>
                <th scope="row">
                  <code title={blob.digest}>{blob.digest.slice(0, 16)}</code>
                </th>
                <td>{blob.project === null ? "unknown" : shownText(blob.project)}</td>
                <td>{memorySizeText(blob.bytes)}</td>
                <td>
                  <Ago time={blob.lastUsedAt} />
                </td>
                <td>{blob.isHeld ? "a recent graph or commit index names it" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollableTable>
      {next.length > nextShown && !isLong ? (
        <button type="button" className="more" onClick={() => setLong(true)}>
          Show all {next.length}
        </button>
      ) : null}
    </>
  );
}
