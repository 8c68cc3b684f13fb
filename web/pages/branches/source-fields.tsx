import type { BranchForm } from "./branch-form.ts";

interface Props {
  readonly form: BranchForm;
  /** The label for an empty value. */
  readonly unsaid: string;
  readonly onChange: (next: Partial<BranchForm>) => void;
}

const kinds: Readonly<Record<BranchForm["sourceKind"], string>> = {
  "": "",
  commit: "the commit’s own .grange/",
  repository: "another repository",
  directory: "a directory of the server",
  pushed: "pushed definitions through the API",
};

/** The source of the definitions. */
export function SourceFields({ form, unsaid, onChange }: Props) {
  const field = (label: string, key: "sourceRepository" | "sourceRev" | "sourcePath") => (
    <label className="stacked">
      {label}
      <input
        type="text"
        value={form[key]}
        onChange={(event) => onChange({ [key]: event.target.value })}
      />
    </label>
  );
  return (
    <div className="form-line">
      <label className="stacked">
        Definitions from
        <select
          value={form.sourceKind}
          onChange={(event) =>
            onChange({ sourceKind: event.target.value as BranchForm["sourceKind"] })
          }
        >
          {Object.entries(kinds).map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words === "" ? unsaid : words}
            </option>
          ))}
        </select>
      </label>
      {form.sourceKind === "repository" ? field("Repository", "sourceRepository") : null}
      {form.sourceKind === "repository" ? field("Revision (HEAD)", "sourceRev") : null}
      {form.sourceKind === "directory" ? field("Directory", "sourcePath") : null}
    </div>
  );
}
