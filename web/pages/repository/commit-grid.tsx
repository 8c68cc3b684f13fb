import { Link, useNavigate } from "@tanstack/react-router";
import { type MouseEvent, memo, type SyntheticEvent, useMemo, useRef, useState } from "react";
import type { GridCell, GridColumns, GridRow } from "#api/commit-grid.ts";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { shownText } from "../../parts/shown-text.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Ago } from "../../parts/times.tsx";
import { cellWords } from "./cell-words.ts";

interface Props {
  readonly rows: readonly GridRow[];
  readonly columns: GridColumns;
}

/** The columns of all loaded rows, in the order in which they appear; jobs without a column of their own come last. */
function columnsOf(rows: readonly GridRow[]): (string | null)[] {
  const names = new Set(rows.flatMap(({ cells }) => cells.map(({ column }) => column)));
  return [...names].toSorted((a, b) => Number(a === null) - Number(b === null));
}

/**
 * A table of commits and jobs with one icon for each job, or each kind of jobs.
 *
 * The cells are plain links with one listener for all: a table may have thousands. The line below the table describes
 * the cell under the pointer or with the focus. j and k move the focus to the next and the previous failed cell.
 */
export function CommitGrid({ rows, columns }: Props) {
  const names = useMemo(() => columnsOf(rows), [rows]);
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const [described, setDescribed] = useState("");

  const describe = ({ target }: SyntheticEvent) =>
    setDescribed((target instanceof Element && linkAt(target)?.ariaLabel) || "");
  const follow = (event: MouseEvent) => {
    const link = event.target instanceof Element ? linkAt(event.target) : null;
    // The browser opens links in a new tab or window by itself.
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (link === null || !isPlain || event.defaultPrevented) return;
    event.preventDefault();
    void navigate({ href: link.pathname });
  };
  const focusFailed = (step: 1 | -1) => {
    const failed = [...(box.current?.querySelectorAll<HTMLElement>("a.has-failed") ?? [])];
    const now = failed.findIndex((each) => each === document.activeElement);
    const next = now === -1 ? (step === 1 ? 0 : failed.length - 1) : now + step;
    failed[next]?.focus();
  };
  useHotkeys({ j: () => focusFailed(1), k: () => focusFailed(-1) });

  return (
    <>
      <div
        className="table-box commit-grid-box"
        ref={box}
        onClick={follow}
        onPointerOver={describe}
        onFocus={describe}
        onPointerLeave={() => setDescribed("")}
      >
        <table className="commit-grid">
          <thead>
            <tr>
              <th scope="col">Commit</th>
              {names.map((name) => (
                <th key={columnKey(name)} scope="col" title={columnTitle(name, columns)}>
                  <span>{columnTitle(name, columns)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.graph.id} row={row} names={names} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="commit-grid-note faint">
        <span>
          {described ||
            "Point at a cell to see what failed. j and k go to the next and previous failure."}
        </span>
      </p>
    </>
  );
}

const linkAt = (target: Element) => target.closest<HTMLAnchorElement>("a.grid-cell");

/** A kind may have the name "": its key differs from that of the jobs without a column. */
const columnKey = (name: string | null) => (name === null ? "others" : `of ${name}`);

function columnTitle(name: string | null, columns: GridColumns): string {
  if (name === null) return columns === "job" ? "other jobs" : "other kinds";
  return name === "" ? "without a kind" : shownText(name);
}

/** Drawn again only when the graph or the columns changed. */
const Row = memo(
  function Row({ row, names }: { row: GridRow; names: readonly (string | null)[] }) {
    const { graph } = row;
    const cells = new Map(row.cells.map((cell) => [cell.column, cell]));
    return (
      <tr>
        <th scope="row">
          <span className="commit-of-row">
            <StateIcon state={graph.state} />
            <span className="what">
              <Link className="main" to="/graphs/$id" params={{ id: graph.id }}>
                {shownText(graph.subject)}
              </Link>
              <span className="faint">
                <code>{graph.commit.slice(0, 8)}</code> · {shownText(graph.branch || graph.rev)} ·{" "}
                {shownText(graph.author)} · <Ago time={graph.createdAt} />
              </span>
            </span>
          </span>
        </th>
        {names.map((name) => (
          <td key={columnKey(name)}>
            <Cell graph={graph.id} cell={cells.get(name)} />
          </td>
        ))}
      </tr>
    );
  },
  (a, b) =>
    a.row.graph.id === b.row.graph.id &&
    a.row.graph.version === b.row.graph.version &&
    a.names === b.names,
);

function Cell({ graph, cell }: { graph: string; cell: GridCell | undefined }) {
  if (cell === undefined) return null;
  // A failed cell leads to the failure; another cell of several jobs leads to its graph.
  const opensJob = cell.jobs === 1 || cell.failed > 0;
  const words = shownText(cellWords(cell));
  return (
    <a
      className={cell.failed > 0 ? "grid-cell has-failed" : "grid-cell"}
      href={`/graphs/${graph}${opensJob ? `/jobs/${encodeURIComponent(cell.job)}` : ""}`}
      aria-label={words}
      title={words}
    >
      <StateIcon state={cell.state} silent />
      {cell.jobs === 1 ? null : <span className="number">{cell.failed || cell.jobs}</span>}
    </a>
  );
}
