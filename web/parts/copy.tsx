import { useState } from "react";

/** Text with a button that copies it. */
export function Copyable({
  text,
  shown = text,
  label,
}: {
  text: string;
  shown?: string;
  label: string;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    // Absent when the page is served without HTTPS from another machine.
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), 1_200);
  };
  return (
    <button
      type="button"
      className="copyable"
      title={`Copy ${label}: ${text}`}
      onClick={() => void copy()}
    >
      <code>{shown}</code>
      <span aria-live="polite" className="copied">
        {copied ? "copied" : ""}
      </span>
    </button>
  );
}
