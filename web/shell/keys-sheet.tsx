import { useRef } from "react";
import { useHotkeys } from "../parts/hotkeys.ts";

const command = "Ctrl/⌘+K";
const keys: readonly (readonly [string, string])[] = [
  [command, "search for jobs, commits, workers, pages and actions"],
  ["j  k", "in a graph or a repository: next, previous failure; elsewhere: next, previous entry"],
  ["n  p", "in a graph: the same as j and k"],
  ["→  ←", "in a graph: next, previous job"],
  ["Enter  l", "open the selected job, and its log; Enter opens other entries, too"],
  ["e", "next failed job; in a log: next match"],
  ["f  u", "only failed jobs; f: only failed actions"],
  ["i", "only jobs in progress"],
  ["r", "run the selected job again, or all shown jobs; the page asks first"],
  ["a", "activate the selected job, or all shown jobs"],
  ["/", "filter; in a log: search"],
  ["1  2  3", "graph, matrix, list"],
  ["Esc", "clear the selection"],
  ["t", "follow the log's end"],
  ["w", "wrap the log's lines"],
  ["g", "back to the graph"],
  ["[  ]", "earlier, later artifact"],
  ["?", "this list of keys"],
];

export function KeysSheet() {
  const dialog = useRef<HTMLDialogElement>(null);
  useHotkeys({ "?": () => dialog.current?.showModal() });
  return (
    <>
      <button
        type="button"
        className="quiet"
        title="Keys (?)"
        aria-label="Keys"
        onClick={() => dialog.current?.showModal()}
      >
        <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-label="Keys">
        <h2>Keys</h2>
        <dl className="keys">
          {keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                {key.split(/\s+/).map((each) => (
                  <kbd key={each}>{each}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog" className="row end">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
