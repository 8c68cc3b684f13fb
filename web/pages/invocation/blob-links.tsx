import { defaultProject } from "#core/default-project.ts";
import { apiBase } from "../../farm/ask.ts";
import { shownText } from "../../parts/shown-text.ts";

interface NamedBlob {
  readonly name: string;
  readonly blob: string | null;
  readonly project: string | null;
  readonly uri: string;
}

/** Returns the address of a project's blob: for download under a name, or as text. */
export function blobUrl(
  project: string | null,
  blob: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const elsewhere = project === null || project === defaultProject ? {} : { project };
  return `${apiBase}/blobs/${blob}?${new URLSearchParams({ ...query, ...elsewhere })}`;
}

/** Files that people read rather than save. */
const isReadable = (name: string) => /\.(log|txt|xml|json|outputs_manifest)$/i.test(name);

/** Files for download; for files that only exist on the tool's machine, their place. */
export function BlobLinks({ files }: { files: readonly NamedBlob[] }) {
  if (files.length === 0) return null;
  return (
    <ul className="blob-links">
      {files.map(({ name, blob, project, uri }) => (
        <li key={`${name} ${uri}`}>
          {blob === null ? (
            <span className="faint" title={uri}>
              {shownText(name)} <span>(not in the farm)</span>
            </span>
          ) : (
            <>
              <a href={blobUrl(project, blob, { name })} download>
                {shownText(name)}
              </a>
              {isReadable(name) ? (
                <>
                  {" "}
                  <a
                    className="faint"
                    href={blobUrl(project, blob, { as: "text" })}
                    target="_blank"
                    rel="noopener"
                  >
                    read
                  </a>
                </>
              ) : null}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
