import { useId, useState } from "react";
import { type NewGraphSearch, Patches } from "./search.ts";

interface Props {
  readonly patches: NewGraphSearch["patches"];
  /** The only submitted job, if there is one: then the text is a patch for it. */
  readonly job: string | undefined;
  readonly onChange: (patches: NewGraphSearch["patches"]) => void;
}

/** Changes of jobs for this graph only, as JSON. Invalid JSON is not reported to the parent. */
export function PatchesField({ patches, job, onChange }: Props) {
  const [draft, setDraft] = useState<string>();
  const help = useId();
  const written = job === undefined ? patches : patches?.[job];
  const text = draft ?? (written === undefined ? "" : JSON.stringify(written, undefined, 2));
  const read = readPatches(text, job);
  return (
    <>
      <label className="stacked">
        {job === undefined ? "Changes of jobs" : `Changes of ${job}`}
        <textarea
          rows={Math.min(12, Math.max(2, text.split("\n").length))}
          spellCheck={false}
          aria-describedby={help}
          placeholder={job === undefined ? '{"build": {"timeout": "20m"}}' : '{"timeout": "20m"}'}
          value={text}
          onChange={(event) => {
            setDraft(event.target.value);
            const next = readPatches(event.target.value, job);
            if (next.kind === "patches") onChange(next.patches);
          }}
        />
      </label>
      <p id={help} className="faint">
        {read.kind === "problem"
          ? read.problem
          : "A JSON merge patch for each job. It applies only to this graph, and the jobs are marked as customised."}
      </p>
    </>
  );
}

type ReadPatches =
  | { readonly kind: "patches"; readonly patches: NewGraphSearch["patches"] }
  | { readonly kind: "problem"; readonly problem: string };

function readPatches(text: string, job: string | undefined): ReadPatches {
  if (text.trim() === "") return { kind: "patches", patches: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (reason) {
    return { kind: "problem", problem: `Not JSON yet: ${(reason as Error).message}` };
  }
  const patches = Patches.safeParse(job === undefined ? value : { [job]: value });
  return patches.success
    ? { kind: "patches", patches: patches.data }
    : { kind: "problem", problem: "A patch is an object of keys and their values." };
}
