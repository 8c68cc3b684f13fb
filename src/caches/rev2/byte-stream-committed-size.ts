import type { BlobResource } from "./resource-name.ts";

/** An upload's client, from its metadata. */
interface ToolDetails {
  readonly toolName: string;
  readonly toolVersion: string;
}

/** How the `committed_size` of an upload is reported. */
type CommittedSize = "blob" | "received" | "minus one";

/**
 * What a client wants to read as its upload's `committed_size`.
 *
 * Of a plain upload that is the blob's size, also when the blob was here already. Of a
 * packed one the API says -1 when it was here, and of the rest nothing: most servers
 * answer what they received, and most clients compare with that. Bazel before 5.3 takes
 * -1 for a failure, so whoever is not known sends all of it; Siso takes the blob's size only.
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
 * Whether a client resumes a packed upload by offsets in the blob, packing again from there.
 *
 * That is Bazel's way. The API does not specify it, so all others begin again.
 */
export function goesOnByBlobBytes(
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
