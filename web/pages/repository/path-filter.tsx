import { type FormEvent, useState } from "react";

interface Props {
  readonly path: string;
  readonly onChange: (path: string | undefined) => void;
}

/**
 * A field for a path that commits change. Unlike the other filters it is applied with Enter, or when the focus leaves
 * it: the server runs git for it, and half a path is another path.
 */
export function PathFilter({ path, onChange }: Props) {
  const [draft, setDraft] = useState<string>();
  const written = draft ?? path;
  const problem = problemOf(written);
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft === undefined || problem !== undefined) return;
    setDraft(undefined);
    if (draft !== path) onChange(draft || undefined);
  };
  return (
    <form className="filter path-filter" onSubmit={apply}>
      <label>
        <span className="visually-hidden">Changed path</span>
        <input
          type="search"
          placeholder="Changed path   ⏎"
          title="A file or a directory, from the root of the repository: commits that change it, compared with their first parent"
          value={written}
          spellCheck={false}
          maxLength={2_048}
          aria-invalid={problem !== undefined}
          onChange={({ target }) => setDraft(target.value)}
          onBlur={() => apply()}
        />
      </label>
      {problem === undefined ? null : (
        <span role="alert" className="problem">
          {problem}
        </span>
      )}
    </form>
  );
}

/** Says what the server would refuse. */
function problemOf(path: string): string | undefined {
  if (path.includes("\\")) return "Write / between the names of a path.";
  if (path.split("/").includes("..")) return "Write the path from the root of the repository.";
  return undefined;
}
