import { useState } from "react";
import type { DefinitionsSource } from "#api/graph-choice.ts";
import { TextField } from "../../parts/text-field.tsx";

interface Props {
  readonly source: DefinitionsSource | undefined;
  /** Not called for an incomplete source. */
  readonly onChange: (source: DefinitionsSource | undefined) => void;
}

type Kind = DefinitionsSource["kind"] | "";

const kinds: Readonly<Record<Kind, string>> = {
  "": "where the branch has them",
  commit: "the commit’s own .grange/",
  repository: "another repository",
  directory: "a directory of the server",
  pushed: "pushed definitions through the API",
};

/** The source of this graph's definitions. */
export function SourceField({ source, onChange }: Props) {
  const [kind, setKind] = useState<Kind>(source?.kind ?? "");
  const [repository, setRepository] = useState(
    source?.kind === "repository" ? source.repository : "",
  );
  const [rev, setRev] = useState(source?.kind === "repository" ? source.rev : "");
  const [path, setPath] = useState(source?.kind === "directory" ? source.path : "");
  const tell = (next: { kind: Kind; repository: string; rev: string; path: string }) => {
    switch (next.kind) {
      case "":
        return onChange(undefined);
      case "commit":
      case "pushed":
        return onChange({ kind: next.kind });
      case "repository":
        if (next.repository === "") return;
        return onChange({
          kind: next.kind,
          repository: next.repository,
          rev: next.rev === "" ? "HEAD" : next.rev,
        });
      case "directory":
        if (next.path !== "") onChange({ kind: next.kind, path: next.path });
    }
  };
  const now = { kind, repository, rev, path };
  return (
    <>
      <label className="stacked">
        Definitions from
        <select
          value={kind}
          onChange={(event) => {
            const chosen = event.target.value as Kind;
            setKind(chosen);
            tell({ ...now, kind: chosen });
          }}
        >
          {Object.entries(kinds).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {kind === "repository" ? (
        <>
          <TextField
            label="Repository of the definitions"
            isLive
            value={repository}
            onChange={(text) => {
              setRepository(text);
              tell({ ...now, repository: text });
            }}
          />
          <TextField
            label="Its revision"
            isLive
            placeholder="HEAD"
            value={rev}
            onChange={(text) => {
              setRev(text);
              tell({ ...now, rev: text });
            }}
          />
        </>
      ) : null}
      {kind === "directory" ? (
        <TextField
          label="Directory"
          isLive
          value={path}
          onChange={(text) => {
            setPath(text);
            tell({ ...now, path: text });
          }}
        />
      ) : null}
    </>
  );
}
