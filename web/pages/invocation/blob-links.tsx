import { defaultProject } from "#core/default-project.ts";
import { apiBase } from "../../farm/ask.ts";
import { shownText } from "../../parts/shown-text.ts";

interface NamedBlob {
  readonly name: string;
  readonly blob: string | null;
  readonly project: string | null;
  readonly uri: string;
}

/** Where a project's blob is had: to keep under a name, or to read as text. */
export function blobUrl(
  project: string | null,
  blob: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const elsewhere = project === null || project === defaultProject ? {} : { project };
  return `${apiBase}/blobs/${blob}?${new URLSearchParams({ ...query, ...elsewhere })}`;
}

/** What people read rather than keep. */
const isReadable = (name: string) => /\.(log|txt|xml|json|outputs_manifest)$/i.test(name);

/** Files to download; those that only the tool has are named, and where. */
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
