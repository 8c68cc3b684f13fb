import type { BlobResource } from "./resource-name.ts";

/** The client of an upload, from its metadata. */
interface ToolDetails {
  readonly toolName: string;
  readonly toolVersion: string;
}

/** How the `committed_size` of an upload is reported. */
type CommittedSize = "blob" | "received" | "minus one";

/**
 * Returns the `committed_size` that a client expects for its upload.
 *
 * For a plain upload, that is the blob's size, also when the blob already existed. For a packed upload of an existing
 * blob, the API specifies -1; for other packed uploads, it specifies nothing: most servers return the received bytes,
 * and most clients compare with that. Bazel before 5.3 treats -1 as a failure, so unknown clients must send everything;
 * Siso accepts only the blob's size.
 */
export function committedSizeFor(
  packing: BlobResource["packing"],
  tool: ToolDetails | undefined,
  wasHere: boolean,
): CommittedSize {
  if (packing === "plain" || isNamed(tool, "siso")) return "blob";
  return wasHere && (isNamed(tool, "buck2") || isBazelFrom(tool, 5, 3)) ? "minus one" : "received";
}

/**
 * Whether a client resumes a packed upload by offsets in the blob, and packs again from there.
 *
 * Bazel does that. The API does not specify it, so all other clients start again.
 */
export function resumesByBlobOffset(
  packing: BlobResource["packing"],
  tool: ToolDetails | undefined,
): boolean {
  return packing === "plain" || isNamed(tool, "bazel");
}

function isNamed(tool: ToolDetails | undefined, name: string): boolean {
  return tool?.toolName.toLowerCase() === name;
}

function isBazelFrom(tool: ToolDetails | undefined, major: number, minor: number): boolean {
  if (tool === undefined || !isNamed(tool, "bazel")) return false;
  const [, has, point] = /(\d+)\.(\d+)/.exec(tool.toolVersion) ?? [];
  const given = Number(has);
  return given > major || (given === major && Number(point) >= minor);
}
