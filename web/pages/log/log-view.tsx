import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useHotkeys } from "../../parts/hotkeys.ts";
import { formatLineRange, type LineRange, parseLineRange } from "./line-range.ts";
import { LogNotices } from "./log-notices.tsx";
import { LogRow } from "./log-row.tsx";
import { LogToolbar } from "./log-toolbar.tsx";
import { type LogStatus, PagedLog } from "./paged-log.ts";
import { readLog } from "./read-log.ts";
import { ShownLines } from "./shown-lines.ts";
import { searchLog, useLogSearch } from "./use-log-search.ts";
import "./log.css";
import { numberText } from "../../parts/number-text.ts";

interface Props {
  readonly url: string;
  /** Sent with each request. The same object for the same log. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fileName: string;
  /** The line that the page's address names, from 1. */
  readonly line: number | undefined;
  readonly find: string;
  /** The lines that the rules of the job count as errors; without rules, the general rule marks lines. */
  readonly errorLines?: readonly number[] | undefined;
  readonly onLine: (line: number) => void;
  readonly onFind: (text: string) => void;
  /** Further buttons. */
  readonly actions?: ReactNode;
}

const lineHeight = 17;
/** Their height, 17,000,000 pixels, is just below Firefox's limit for an element (17,895,697). */
const mostRows = 1_000_000;

export function LogView(props: Props) {
  const { url, headers, fileName, line, find, errorLines, onLine, onFind } = props;
  const { log, status } = useLog(url, headers);
  const count = log.count;
  const isLive = status.state === "live";
  const [range, setRange] = useState(() => parseLineRange(window.location.hash));
  const named = range?.[0] ?? line;
  const [follow, setFollow] = useState(named === undefined && find === "");
  const [wrap, setWrap] = useState(false);
  const [current, setCurrent] = useState(-1);
  const found = useLogSearch({ url, headers, count, isLive }, find);
  const scroller = useRef<HTMLDivElement>(null);
  const findBox = useRef<HTMLInputElement>(null);
  const lineBox = useRef<HTMLInputElement>(null);
  const { rows, shown, show, folded, toggleGroup, from, showFrom } = useRows(log, scroller, wrap);

  // Scrolls to the end whenever lines were added.
  useEffect(() => {
    if (follow && isLive && count > 0) show(count, "end");
    // oxlint-disable-next-line react/exhaustive-deps -- `show` is a new function each time
  }, [follow, isLive, count, status.revision]);

  // The page scrolls once to the address's line when it is loaded, and again for another line from a link.
  const gone = useRef<number>(undefined);
  useEffect(() => {
    if (named === undefined || gone.current === named || count < named) return;
    gone.current = named;
    setFollow(false);
    show(named);
    // oxlint-disable-next-line react/exhaustive-deps -- as above
  }, [named, count]);

  const goTo = (to: number) => {
    setFollow(false);
    setRange(undefined);
    gone.current = to;
    show(to);
    onLine(to);
  };
  const step = (by: number) => {
    const { lines } = found;
    if (lines.length === 0) return;
    const next = (Math.max(current, by > 0 ? -1 : 0) + by + lines.length) % lines.length;
    setFollow(false);
    setCurrent(next);
    show(lines[next] ?? 1);
  };
  const toggleFollow = () => {
    if (!follow && count > 0) show(count, "end");
    setFollow(!follow);
  };
  const toFirstError = async () => {
    const [own] = errorLines ?? [];
    const search = async () =>
      (await searchLog(url, { errors: "true", most: 1 }, headers).catch(() => undefined))?.lines[0];
    const first = own ?? (await search());
    if (first !== undefined) goTo(first);
  };
  const chooseNumber = (number: number, isRange: boolean) => {
    setFollow(false);
    // It is already visible.
    gone.current = isRange ? named : number;
    if (!isRange || named === undefined) {
      setRange(undefined);
      return onLine(number);
    }
    const chosen: LineRange = [Math.min(named, number), Math.max(named, number)];
    gone.current = chosen[0];
    setRange(chosen);
    // The last part of the address of a share link is its token.
    if (headers === undefined) window.history.replaceState(null, "", formatLineRange(chosen));
  };
  useHotkeys({
    "/": () => findBox.current?.focus(),
    g: () => lineBox.current?.focus(),
    e: () => step(1),
    n: () => step(1),
    N: () => step(-1),
    x: () => void toFirstError(),
    t: toggleFollow,
    w: () => setWrap(!wrap),
  });

  const matched = useMemo(() => new Set(found.lines), [found.lines]);
  const errors = useMemo(() => errorLines && new Set(errorLines), [errorLines]);
  const titles = useMemo(() => new Map(log.index.groups), [log.index.groups]);
  const marksOf = (number: number) => {
    const marks: ("linked" | "match" | "current")[] = [];
    const [first, last] = range ?? [line ?? 0, line ?? 0];
    if (number >= first && number <= last) marks.push("linked");
    if (matched.has(number)) marks.push("match");
    if (found.lines[current] === number) marks.push("current");
    return marks;
  };
  return (
    <section className="log" aria-label="Log">
      <LogToolbar
        status={status}
        lines={count}
        follow={follow}
        wrap={wrap}
        find={find}
        findBox={findBox}
        lineBox={lineBox}
        found={found}
        current={Math.min(current, found.lines.length - 1)}
        onFind={(text) => {
          setCurrent(-1);
          onFind(text);
        }}
        onStep={step}
        onLine={goTo}
        onFirstError={() => void toFirstError()}
        onEnd={() => count > 0 && show(count, "end")}
        onFollow={toggleFollow}
        onWrap={() => setWrap(!wrap)}
        onDownload={() => void downloadLog(url, fileName, headers)}
        actions={props.actions}
      />
      <LogNotices status={status} lines={count} notes={log.index.notes} onLine={goTo} />
      {from > 0 ? (
        <button type="button" onClick={() => showFrom(from - mostRows / 2)}>
          Show the lines before {numberText(from)}
        </button>
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
            const number = shown.lineAt(row.index) + 1;
            const end = titles.get(number);
            return (
              <div
                key={row.index}
                className="log-row"
                data-index={row.index}
                ref={wrap ? rows.measureElement : undefined}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <LogRow
                  number={number}
                  content={log.at(number - 1)}
                  marks={marksOf(number)}
                  isError={errors?.has(number)}
                  group={
                    end === undefined
                      ? undefined
                      : { isFolded: folded.has(number), hides: end - number }
                  }
                  onGroup={() => toggleGroup(number)}
                  onNumber={(isRange) => chooseNumber(number, isRange)}
                />
              </div>
            );
          })}
        </div>
      </div>
      {count - from > mostRows ? (
        <button type="button" onClick={() => showFrom(from + mostRows / 2)}>
          Show later lines
        </button>
      ) : null}
    </section>
  );
}

/** The rows of the list: which lines they show, and how to get to one. */
function useRows(log: PagedLog, scroller: RefObject<HTMLDivElement | null>, wrap: boolean) {
  const count = log.count;
  const [from, setFrom] = useState(0);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const { groups } = log.index;
  const shown = useMemo(() => {
    const hidden = groups.filter(([title]) => folded.has(title));
    return new ShownLines(count, hidden, from, mostRows);
  }, [count, groups, folded, from]);

  // oxlint-disable-next-line react/incompatible-library -- no compiler memoizes here
  const rows = useVirtualizer({
    count: shown.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 20,
  });

  // Lines of any height are measured when they become visible, and the heights are dropped when wrapping is switched
  // off. Wrapping changes heights.
  useEffect(() => rows.measure(), [wrap, rows]);

  // The line to show once the rows around it exist.
  const [wanted, setWanted] = useState<{
    readonly line: number;
    readonly align: "center" | "end";
  }>();
  useEffect(() => {
    if (wanted === undefined) return;
    rows.scrollToIndex(shown.rowOf(wanted.line - 1), { align: wanted.align });
    // oxlint-disable-next-line react/exhaustive-deps -- it scrolls once for each wish
  }, [wanted]);

  const showFrom = (first: number) => setFrom(Math.max(0, first));
  const show = (line: number, align: "center" | "end" = "center") => {
    const around = groups.find(([title, end]) => title < line && line <= end);
    if (around !== undefined && folded.has(around[0])) toggleGroup(around[0]);
    if (line <= from || line > from + mostRows) showFrom(line - mostRows / 2);
    setWanted({ line, align });
  };
  const toggleGroup = (title: number) => {
    const next = new Set(folded);
    if (!next.delete(title)) next.add(title);
    setFolded(next);
  };
  return { rows, shown, show, folded, toggleGroup, from, showFrom };
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

function useLog(url: string, headers: Props["headers"]): { log: PagedLog; status: LogStatus } {
  const log = useMemo(() => new PagedLog(url, headers), [url, headers]);
  useEffect(() => log.start(), [log]);
  const status = useSyncExternalStore(log.watch, log.status);
  return { log, status };
}
