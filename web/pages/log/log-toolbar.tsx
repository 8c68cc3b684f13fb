import type { ReactNode, RefObject } from "react";
import { SearchBox } from "../../parts/search-box.tsx";
import type { LogStatus } from "./live-log.ts";

interface Props {
  readonly status: LogStatus;
  readonly lines: number;
  readonly follow: boolean;
  readonly wrap: boolean;
  readonly find: string;
  readonly findBox: RefObject<HTMLInputElement | null>;
  readonly matches: number;
  /** The index of the current match, from 0; -1 for none. */
  readonly current: number;
  readonly onFind: (text: string) => void;
  readonly onStep: (by: number) => void;
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
  const { status, lines, matches, current, follow, wrap, find, findBox, onStep } = props;
  return (
    <div className="log-toolbar" role="toolbar" aria-label="Log">
      <strong>Log</strong>
      <span className="faint number">
        {lines.toLocaleString("en")} {lines === 1 ? "line" : "lines"} · {words[status.state]}
      </span>
      <span className="grow" />
      <SearchBox
        label="Search the log"
        placeholder="Search   /"
        value={find}
        box={findBox}
        onChange={props.onFind}
        onEnter={(backwards) => onStep(backwards ? -1 : 1)}
      />
      {find === "" ? null : (
        <>
          <output className="number faint">
            {matches === 0 ? "none" : `${current + 1} / ${matches.toLocaleString("en")}`}
          </output>
          <button
            type="button"
            aria-label="Previous match"
            title="Previous (Shift+Enter)"
            disabled={matches === 0}
            onClick={() => onStep(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            aria-label="Next match"
            title="Next (Enter)"
            disabled={matches === 0}
            onClick={() => onStep(1)}
          >
            ↓
          </button>
        </>
      )}
      {status.state === "complete" ? null : (
        <button
          type="button"
          aria-pressed={follow}
          title="Follow the end (t)"
          onClick={props.onFollow}
        >
          Follow
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
