import { type ReactNode, type RefObject, useState } from "react";
import { numberText } from "../../parts/number-text.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import type { LogStatus } from "./paged-log.ts";
import type { FoundLines } from "./use-log-search.ts";

interface Props {
  readonly status: LogStatus;
  readonly lines: number;
  readonly follow: boolean;
  readonly wrap: boolean;
  readonly find: string;
  readonly findBox: RefObject<HTMLInputElement | null>;
  readonly lineBox: RefObject<HTMLInputElement | null>;
  readonly found: FoundLines;
  /** The index of the current match, from 0; -1 for none. */
  readonly current: number;
  readonly onFind: (text: string) => void;
  readonly onStep: (by: number) => void;
  readonly onLine: (line: number) => void;
  readonly onFirstError: () => void;
  readonly onEnd: () => void;
  readonly onFollow: () => void;
  readonly onWrap: () => void;
  readonly onDownload: () => void;
  readonly actions?: ReactNode;
}

const words: Readonly<Record<LogStatus["state"], string>> = {
  loading: "loading…",
  live: "running",
  complete: "complete",
  failed: "not loaded",
};

export function LogToolbar(props: Props) {
  const { status, lines, follow, wrap } = props;
  return (
    <div className="log-toolbar" role="toolbar" aria-label="Log">
      <strong>Log</strong>
      <span className="faint number">
        {numberText(lines)} {lines === 1 ? "line" : "lines"} · {words[status.state]}
      </span>
      <span className="grow" />
      <Search {...props} />
      <GoToLine box={props.lineBox} lines={lines} onLine={props.onLine} />
      <button
        type="button"
        title="Go to the first line that reports an error (x)"
        onClick={props.onFirstError}
      >
        First error
      </button>
      {status.state === "live" ? (
        <button
          type="button"
          aria-pressed={follow}
          title="Follow the end (t)"
          onClick={props.onFollow}
        >
          Follow
        </button>
      ) : (
        <button type="button" title="The last line (t)" onClick={props.onEnd}>
          End
        </button>
      )}
      <button type="button" aria-pressed={wrap} title="Wrap long lines (w)" onClick={props.onWrap}>
        Wrap
      </button>
      <button type="button" title="Save the raw log" onClick={props.onDownload}>
        Raw
      </button>
      {props.actions}
    </div>
  );
}

function Search({ find, findBox, found, current, onFind, onStep }: Props) {
  return (
    <>
      <SearchBox
        label="Search the log"
        placeholder="Search   /"
        value={find}
        box={findBox}
        onChange={onFind}
        onEnter={(backwards) => onStep(backwards ? -1 : 1)}
      />
      {find === "" ? null : (
        <>
          <output className="number faint">{foundText(found, current)}</output>
          <button
            type="button"
            aria-label="Previous match"
            title="Previous (N, or Shift+Enter in the field)"
            disabled={found.lines.length === 0}
            onClick={() => onStep(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            aria-label="Next match"
            title="Next (n, or Enter in the field)"
            disabled={found.lines.length === 0}
            onClick={() => onStep(1)}
          >
            ↓
          </button>
        </>
      )}
    </>
  );
}

function foundText({ state, lines, hasMore, message }: FoundLines, current: number): string {
  switch (state) {
    case "none":
    case "searching":
      return "searching…";
    case "failed":
      return message;
    case "found":
      return lines.length === 0
        ? "none"
        : `${current + 1} / ${numberText(lines.length)}${hasMore ? "+" : ""}`;
  }
}

function GoToLine(props: {
  readonly box: RefObject<HTMLInputElement | null>;
  readonly lines: number;
  readonly onLine: (line: number) => void;
}) {
  const { box, lines, onLine } = props;
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const line = Number(text.replaceAll(",", ""));
        if (Number.isInteger(line) && line >= 1) onLine(Math.min(line, Math.max(1, lines)));
      }}
    >
      <label className="filter go-to-line">
        <span className="visually-hidden">Go to line</span>
        <input
          ref={box}
          type="text"
          inputMode="numeric"
          placeholder="Line   g"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      </label>
    </form>
  );
}
