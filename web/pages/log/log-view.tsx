import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { LogLineContent } from "./log-line.tsx";
import { LogToolbar } from "./log-toolbar.tsx";
import { useLogSearch } from "./use-log-search.ts";
import "./log.css";
import { LiveLog, type LogStatus } from "./live-log.ts";
import { readLog } from "./read-log.ts";

interface Props {
  readonly url: string;
  /** Sent with each request. The same object for the same log. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fileName: string;
  /** The line that the page's address names, from 1. */
  readonly line: number | undefined;
  readonly find: string;
  readonly onLine: (line: number) => void;
  readonly onFind: (text: string) => void;
  /** Further buttons. */
  readonly actions?: ReactNode;
}

/** A million of them are 17,000,000 pixels: just below Firefox's limit for an element's height (17,895,697). */
const lineHeight = 17;

export function LogView({ url, headers, fileName, line, find, onLine, onFind, actions }: Props) {
  const { log, status } = useLiveLog(url, headers);
  const count = log.lines.count;
  const [follow, setFollow] = useState(line === undefined && find === "");
  const [wrap, setWrap] = useState(false);
  const [current, setCurrent] = useState(-1);
  const matches = useLogSearch(log.lines, status.revision, find);
  const scroller = useRef<HTMLDivElement>(null);
  const findBox = useRef<HTMLInputElement>(null);

  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes here
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 20,
  });

  // Lines of any height are measured when they become visible, and the heights are dropped when wrapping is switched
  // off. Wrapping changes heights.
  useEffect(() => rows.measure(), [wrap, rows]);

  const isLive = status.state === "live";
  // Scrolls to the end whenever lines were added.
  useEffect(() => {
    if (follow && isLive) rows.scrollToIndex(count - 1, { align: "end" });
  }, [follow, isLive, count, status.revision, rows]);

  // The page scrolls once to the address's line when it is loaded, and again for another line from a link.
  const gone = useRef<number>(undefined);
  useEffect(() => {
    if (line === undefined || gone.current === line || count < line) return;
    gone.current = line;
    setFollow(false);
    rows.scrollToIndex(line - 1, { align: "center" });
  }, [line, count, rows]);

  const step = (by: number) => {
    if (matches.length === 0) return;
    const next = (current + by + matches.length) % matches.length;
    setFollow(false);
    setCurrent(next);
    rows.scrollToIndex(matches[next] ?? 0, { align: "center" });
  };
  const toggleFollow = () => {
    if (!follow && count > 0) rows.scrollToIndex(count - 1, { align: "end" });
    setFollow(!follow);
  };
  useHotkeys({
    "/": () => findBox.current?.focus(),
    e: () => step(1),
    t: toggleFollow,
    w: () => setWrap(!wrap),
  });

  const matched = useMemo(() => new Set(matches), [matches]);
  return (
    <section className="log" aria-label="Log">
      <LogToolbar
        status={status}
        lines={count}
        follow={follow}
        wrap={wrap}
        find={find}
        findBox={findBox}
        matches={matches.length}
        current={Math.min(current, matches.length - 1)}
        onFind={(text) => {
          setCurrent(-1);
          onFind(text);
        }}
        onStep={step}
        onFollow={toggleFollow}
        onWrap={() => setWrap(!wrap)}
        onDownload={() => void downloadLog(url, fileName, headers)}
        actions={actions}
      />
      {status.state === "failed" ? (
        <p role="alert" className="problem">
          The log could not be loaded: {status.message}. Reload the page to try again.
        </p>
      ) : null}
      {status.state === "complete" && count === 0 ? (
        <p className="faint center">It wrote nothing.</p>
      ) : null}
      {status.state === "live" && count === 0 ? (
        <p className="faint center">It has written nothing yet.</p>
      ) : null}
      <div
        ref={scroller}
        className={`log-lines${wrap ? " wrap" : ""}`}
        // A region that scrolls must be reachable by keys.
        tabIndex={0}
        role="region"
        aria-label="Lines"
        onWheel={(event) => {
          if (event.deltaY < 0) setFollow(false);
        }}
      >
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((row) => {
            const content = log.lines.at(row.index);
            if (content === undefined) return null;
            const number = row.index + 1;
            const classes = ["log-row"];
            if (number === line) classes.push("linked");
            if (matched.has(row.index)) classes.push("match");
            if (matches[current] === row.index) classes.push("current");
            return (
              <div
                key={row.index}
                className={classes.join(" ")}
                data-index={row.index}
                ref={wrap ? rows.measureElement : undefined}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <a
                  className="log-number"
                  href={`?line=${number}`}
                  aria-label={`Line ${number}`}
                  onClick={(event) => {
                    if (event.metaKey || event.ctrlKey) return;
                    event.preventDefault();
                    setFollow(false);
                    // It is already visible.
                    gone.current = number;
                    onLine(number);
                  }}
                >
                  {number}
                </a>
                <span className="log-text">
                  <LogLineContent raw={content.raw} style={content.style} folded={content.folded} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** Saves all bytes of a log as a file. */
async function downloadLog(
  url: string,
  fileName: string,
  headers: Props["headers"],
): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of readLog(url, headers && { headers })) parts.push(part);
  const file = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = file;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(file);
}

function useLiveLog(url: string, headers: Props["headers"]): { log: LiveLog; status: LogStatus } {
  const log = useMemo(() => new LiveLog(url, headers), [url, headers]);
  useEffect(() => log.start(), [log]);
  const status = useSyncExternalStore(log.watch, log.status);
  return { log, status };
}
