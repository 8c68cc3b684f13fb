import { isErrorLine } from "#core/marked-error.ts";
import { LogLineContent } from "./log-line.tsx";
import type { LogLine } from "./log-lines.ts";
import { plainText } from "./tokenize-line.ts";

interface Props {
  /** From 1. */
  readonly number: number;
  /** Undefined while it is loaded. */
  readonly content: LogLine | undefined;
  /** Whether the line is named by the address, or found, or the current match. */
  readonly marks: readonly ("linked" | "match" | "current")[];
  /** Whether the rules of the job count it as an error; undefined: the general rule decides. */
  readonly isError: boolean | undefined;
  /** For the title of a group. */
  readonly group: { readonly isFolded: boolean; readonly hides: number } | undefined;
  readonly onGroup: () => void;
  readonly onNumber: (isRange: boolean) => void;
}

/** One line: its number, which is a link to it, and its text. */
export function LogRow({ number, content, marks, isError, group, onGroup, onNumber }: Props) {
  const marked = content !== undefined && (isError ?? isErrorLine(plainText(content.raw)));
  return (
    <div className={["log-line", ...marks, ...(marked ? ["is-error"] : [])].join(" ")}>
      <a
        className="log-number"
        href={`?line=${number}`}
        aria-label={`Line ${number}`}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          onNumber(event.shiftKey);
        }}
      >
        {number}
      </a>
      {group === undefined ? null : (
        <button
          type="button"
          className="log-group"
          aria-expanded={!group.isFolded}
          aria-label={`${group.isFolded ? "Show" : "Hide"} ${group.hides} lines`}
          onClick={onGroup}
        >
          {group.isFolded ? "▸" : "▾"}
        </button>
      )}
      <span className="log-text">
        {content === undefined ? (
          <span className="faint">…</span>
        ) : (
          <LogLineContent
            raw={group === undefined ? content.raw : titleOf(content.raw)}
            style={content.style}
            folded={content.folded}
            hidden={content.hidden}
          />
        )}
      </span>
    </div>
  );
}

function titleOf(raw: string): string {
  return raw.replace(/^(?:##\[group\]|::group::)/, "");
}
