import type { LogIndex } from "#api/log.ts";
import { LogGroups } from "#core/log-groups.ts";
import { longestNote, mostNotes, noteStart } from "#core/log-notes.ts";

/** Returns the index that the server would return for a short log: its text is one block. */
export function indexText(
  text: string,
  log: Pick<LogIndex, "attempt" | "complete" | "bytes">,
): LogIndex {
  const groups = new LogGroups({ closed: [], open: undefined });
  const notes: LogIndex["notes"] = [];
  const lines = text.split("\n");
  // A newline ends a line; the text after the last one is a line only if there is some.
  if (lines.at(-1) === "") lines.pop();
  for (const [at, line] of lines.entries()) {
    groups.line(at + 1, line);
    if (line.startsWith(noteStart) && notes.length < mostNotes)
      notes.push({ line: at + 1, text: line.slice(0, longestNote) });
  }
  return { ...log, lines: lines.length, blocks: [[0, 0]], notes, groups: groups.closed };
}
