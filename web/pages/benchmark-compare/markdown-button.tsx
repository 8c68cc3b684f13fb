import { useState } from "react";
import type { CaseComparison, Comparison } from "#api/benchmark-comparison.ts";
import { comparisonMarkdown } from "./comparison-markdown.ts";

/** Copies the visible table, for a comment or a note. */
export function MarkdownButton(props: {
  readonly comparison: Comparison;
  readonly cases: readonly CaseComparison[];
}) {
  const [text, setText] = useState<string>();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const made = comparisonMarkdown(props.comparison, props.cases, location.href);
    try {
      await navigator.clipboard.writeText(made);
      setCopied(true);
      window.setTimeout(() => setCopied(false), 1_500);
    } catch {
      // The clipboard is absent when the page is served without HTTPS from another machine: then the text is shown for
      // selection.
      setText(made);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy as Markdown
        <span aria-live="polite" className="copied">
          {copied ? "copied" : ""}
        </span>
      </button>
      {text === undefined ? null : (
        <textarea aria-label="Markdown" readOnly rows={4} value={text} className="grow" />
      )}
    </>
  );
}
