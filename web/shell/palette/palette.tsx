import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { serverEndpoints } from "#api/endpoints/server-endpoints.ts";
import type { FoundObject } from "#api/find.ts";
import { call } from "../../farm/ask.ts";
import { offeredCommands } from "../../parts/commands.ts";
import { fixedEntries, matching } from "./fixed-entries.ts";
import { foundEntry } from "./found-entry.ts";
import { type Choice, keepChoice, moveChoice } from "./keep-choice.ts";
import "./palette.css";

/** The search is sent when the user has not typed for so long. */
const pauseMs = 120;
/** One letter would find almost everything. */
const fewestLetters = 2;
const mostOfKind = 6;

interface Entry {
  /** Unique in the list, and the same while the text is the same. */
  readonly id: string;
  /** Whether it was found for an earlier text; the answer for the present text has not arrived. */
  readonly isEarlier: boolean;
  readonly label: string;
  readonly note: string;
  readonly keys?: string | undefined;
  readonly open: () => void;
}

interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** A dialog that finds pages, actions and objects of the farm by the words of their names, and opens them. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [choice, setChoice] = useState<Choice>({ kind: "first" });
  const list = useId();
  const { sections, isAsking } = useSections(text, () => dialog.current?.close());
  const entries = sections.flatMap((section) => section.entries);
  const kept = keepChoice(choice, entries);
  // During rendering: a key that is pressed next must find the choice that is visible.
  if (kept !== choice) setChoice(kept);
  const chosen = kept.kind === "entry" ? entries.findIndex(({ id }) => id === kept.id) : -1;
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });

  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setChoice(moveChoice(kept, entries, event.key === "ArrowDown" ? 1 : -1));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      entries[chosen]?.open();
    }
  };

  let number = 0;
  return (
    <dialog ref={dialog} className="palette" aria-label="Search" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search for pages, actions and objects"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={chosen === -1 ? undefined : `${list}-${chosen}`}
        placeholder="Job, commit, repository, worker, page, action…"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChoice({ kind: "first" });
        }}
        onKeyDown={onKey}
      />
      <div id={list} role="listbox" aria-label="Results">
        {sections.map(({ title, entries: ofSection }) => (
          <div key={title} role="group" aria-label={title}>
            <div className="palette-title" aria-hidden="true">
              {title}
            </div>
            {ofSection.map((entry) => {
              const mine = number++;
              return (
                <div
                  key={entry.id}
                  id={`${list}-${mine}`}
                  role="option"
                  aria-selected={mine === chosen}
                  tabIndex={-1}
                  className="palette-entry"
                  onPointerMove={() => setChoice({ kind: "entry", id: entry.id })}
                  onClick={entry.open}
                  onKeyDown={onKey}
                >
                  <span className="palette-label">{entry.label}</span>
                  <span className="faint palette-note">{entry.note}</span>
                  {entry.keys === undefined ? null : <kbd>{entry.keys}</kbd>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <p className="faint palette-foot" role="status">
        {footOf(text, entries.length, isAsking)}
      </p>
    </dialog>
  );
}

function footOf(text: string, entries: number, isAsking: boolean): string {
  if (isAsking) return "Searching…";
  if (entries === 0) return `Nothing that you may read contains "${text}".`;
  return "↑ ↓ choose · Enter open · Esc close";
}

/**
 * Returns what matches a text: first what the page itself knows, then objects of the farm. These arrive later, so they
 * must not move what the user already sees.
 */
function useSections(
  text: string,
  close: () => void,
): { readonly sections: readonly Section[]; readonly isAsking: boolean } {
  const router = useRouter();
  const { found, isAsking } = useFound(text);
  const opening = (open: () => void) => () => {
    close();
    open();
  };
  const go = (href: string) =>
    opening(() => {
      // The documents are a site of their own.
      if (href.startsWith("/docs/")) location.assign(href);
      else router.history.push(href);
    });

  const here = matching(
    offeredCommands().map((command) => ({ ...command, also: "" })),
    text,
  ).map(
    ({ label, keys, run }): Entry => ({
      id: `here ${label}`,
      isEarlier: false,
      label,
      note: "",
      keys,
      open: opening(run),
    }),
  );
  const fixed = matching(fixedEntries(), text);
  const ofKind = (kind: (typeof fixed)[number]["kind"]) =>
    fixed
      .filter((entry) => entry.kind === kind)
      .map(
        ({ label, opens }): Entry => ({
          id: `${kind} ${label}`,
          isEarlier: false,
          label,
          note: "",
          open: "href" in opens ? go(opens.href) : opening(opens.run),
        }),
      );
  const objects = (kind: FoundObject["kind"]) =>
    found
      .filter((object) => object.kind === kind)
      .map((object): Entry => {
        const { label, note, href } = foundEntry(object);
        return { id: `${kind} ${href}`, isEarlier: isAsking, label, note, open: go(href) };
      });

  const sections = [
    { title: "On this page", entries: here },
    { title: "Pages", entries: ofKind("page") },
    { title: "Settings", entries: ofKind("setting") },
    { title: "Actions", entries: ofKind("action") },
    { title: "Documents", entries: ofKind("document") },
    { title: "Repositories", entries: objects("repository") },
    { title: "Jobs", entries: objects("job") },
    { title: "Graphs", entries: objects("graph") },
    { title: "Executions", entries: objects("execution") },
    { title: "Invocations", entries: objects("invocation") },
    { title: "Benchmarks", entries: objects("benchmark") },
    { title: "Workers", entries: objects("worker") },
  ];
  return { sections: sections.filter(({ entries }) => entries.length > 0), isAsking };
}

function useFound(text: string): {
  readonly found: readonly FoundObject[];
  readonly isAsking: boolean;
} {
  const [sent, setSent] = useState("");
  const wanted = text.trim();
  const isLong = wanted.length >= fewestLetters;
  useEffect(() => {
    const timer = setTimeout(() => setSent(wanted), pauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  const { data, isFetching } = useQuery({
    ...findQuery(sent),
    enabled: sent.length >= fewestLetters,
    placeholderData: keepPreviousData,
  });
  return {
    found: isLong ? (data?.objects ?? []) : [],
    isAsking: isLong && (isFetching || sent !== wanted),
  };
}

function findQuery(text: string) {
  return queryOptions({
    queryKey: ["find", text],
    queryFn: ({ signal }) =>
      call(serverEndpoints.find, { query: { text, limit: mostOfKind } }, signal),
  });
}
