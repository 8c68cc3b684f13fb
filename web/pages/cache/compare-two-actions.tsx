import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Differences } from "../../parts/action-differences.tsx";
import { actionComparisonQuery } from "./load.ts";
import type { CacheSearch } from "./search.ts";

interface Props {
  readonly search: CacheSearch;
  readonly onCompare: (
    next: Required<Pick<CacheSearch, "before" | "after">> & Pick<CacheSearch, "project">,
  ) => void;
}

/** Asks for the digests of two actions, and shows how they differ. */
export function CompareTwoActions({ search, onCompare }: Props) {
  const { before = "", after = "", project = "" } = search;
  const [draft, setDraft] = useState({ before, after, project });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onCompare({
      before: draft.before.trim(),
      after: draft.after.trim(),
      project: draft.project.trim() || undefined,
    });
  };
  const field = (name: keyof typeof draft, label: string, placeholder: string) => (
    <label>
      <span>{label}</span>
      <input
        value={draft[name]}
        placeholder={placeholder}
        spellCheck={false}
        required={name !== "project"}
        onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
      />
    </label>
  );
  return (
    <>
      <p className="faint">
        A result is found only for the same action: the same command, environment, platform and
        input files. The page of an execution shows the digest of its action.
      </p>
      <form className="two-actions" onSubmit={submit}>
        {field("before", "First action", "HASH/SIZE")}
        {field("after", "Second action", "HASH/SIZE")}
        {field("project", "Project", "default")}
        <button type="submit" className="primary">
          Compare
        </button>
      </form>
      {before === "" || after === "" ? null : (
        <Compared project={project} before={before} after={after} />
      )}
    </>
  );
}

function Compared(props: {
  readonly project: string;
  readonly before: string;
  readonly after: string;
}) {
  const { project, before, after } = props;
  const { data, error } = useQuery(actionComparisonQuery(project, before, after));
  if (error !== null) {
    return (
      <p role="alert" className="problem">
        The actions could not be compared: {error.message}
      </p>
    );
  }
  if (data === undefined) return <p className="faint">Comparing…</p>;
  return (
    <div className="compared" role="region" aria-label="Differences">
      <Differences of={data} columns={{ before: "First", after: "Second" }} />
    </div>
  );
}
