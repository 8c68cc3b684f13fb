import { useQuery } from "@tanstack/react-query";
import { shownText } from "../../parts/shown-text.ts";
import { settingsQuery } from "./load.ts";

/** The settings of a repository in one line. Nothing until they are known, and for who may not read them. */
export function RepositorySettingsLine({ name }: { readonly name: string }) {
  const { data } = useQuery(settingsQuery(name));
  if (data === undefined) return null;
  return (
    <p className="faint">
      <span title="The blobs and results of its graphs are read through this project (docs/access.md)">
        Project {shownText(data.project)}
      </span>
    </p>
  );
}
