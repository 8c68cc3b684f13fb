import { digestForName } from "#cas/digest-in-name.ts";
import { defaultProject } from "#core/default-project.ts";
import {
  type Digest,
  digestFrom,
  digestFunctions,
  functionByLength,
  isHexOf,
} from "#core/digest.ts";

/** A blob of a project. */
interface BlobOfProject {
  readonly project: string;
  readonly digest: Digest;
}

/**
 * Returns the blob that a `bytestream://host/[instance/]blobs/[function/]hash/size` names.
 *
 * Undefined for other URIs: a `file://` exists only on the tool's machine.
 */
export function blobOfUri(uri: string): BlobOfProject | undefined {
  const found =
    /^bytestream:\/\/[^/]*\/(?:(.*)\/)?blobs\/(?:([a-z0-9]+)\/)?([0-9a-f]+)\/(\d{1,15})$/.exec(uri);
  if (found === null) return undefined;
  const [, project = defaultProject, named, hex = "", size] = found;
  const name =
    named === undefined ? functionByLength(hex) : digestFunctions.find((one) => one === named);
  if (name === undefined || !isHexOf(name, hex)) return undefined;
  return { project, digest: digestFrom(name, hex, Number(size)) };
}

/** Returns the URI of a blob that was inside an event; `blobOfUri` parses it. */
export function uriOfBlob({ project, digest }: BlobOfProject): string {
  return `bytestream://event/${project}/blobs/${digestForName(digest)}`;
}
