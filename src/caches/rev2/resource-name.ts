import { digestInName } from "#cas/digest-in-name.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { projectOf } from "./project-of.ts";

/** The resource of a ByteStream call. */
export interface BlobResource {
  /** May be empty, and may have slashes. An invalid project name is refused. */
  readonly instanceName: string;
  /** The digest of the blob itself, even if it is sent packed. */
  readonly digest: Digest;
  /** The encoding of the bytes on the wire. */
  readonly packing: "plain" | "zstd";
}

/** Parses `[instance/]blobs/[function/]<hash>/<size>`, or `compressed-blobs/zstd/` for `blobs/`. */
export function parseReadName(name: string): BlobResource {
  const segments = segmentsOf(name);
  const at = segments.findIndex((each) => each === "blobs" || each === "compressed-blobs");
  if (at < 0) throw misnamed(name, "[instance/]blobs/hash/size");
  const { digest, packing, next } = blobAt(segments, at, name);
  if (next !== segments.length) throw misnamed(name, "[instance/]blobs/hash/size");
  return { instanceName: instanceAt(segments, at), digest, packing };
}

/** Parses `[instance/]uploads/<uuid>/`, followed by a name for `parseReadName`, and by any further text. */
export function parseWriteName(name: string): BlobResource {
  const segments = segmentsOf(name);
  const at = segments.indexOf("uploads");
  const kind = segments[at + 2];
  if (at < 0 || segments[at + 1] === "" || (kind !== "blobs" && kind !== "compressed-blobs")) {
    throw misnamed(name, "[instance/]uploads/uuid/blobs/hash/size");
  }
  const { digest, packing } = blobAt(segments, at + 2, name);
  return { instanceName: instanceAt(segments, at), digest, packing };
}

function instanceAt(segments: readonly string[], end: number): string {
  const instanceName = segments.slice(0, end).join("/");
  projectOf(instanceName);
  return instanceName;
}

/** Much longer than a name with an instance, a uuid and a trailing path. */
const mostNameChars = 4_096;

function segmentsOf(name: string): string[] {
  if (name.length <= mostNameChars) return name.split("/");
  throw new Fault("invalid_argument", `a resource name is over ${mostNameChars} characters`);
}

function blobAt(segments: readonly string[], at: number, name: string) {
  const packing = packingAt(segments, at, name);
  const found = digestInName(segments, packing === "plain" ? at + 1 : at + 2);
  if (found !== undefined) return { ...found, packing };
  throw new Fault("invalid_argument", `${name} does not name a blob by hash and size`);
}

function packingAt(segments: readonly string[], at: number, name: string): "plain" | "zstd" {
  if (segments[at] === "blobs") return "plain";
  if (segments[at + 1] === "zstd") return "zstd";
  throw new Fault("invalid_argument", `${name} has another compression than zstd`);
}

function misnamed(name: string, form: string): Fault {
  return new Fault("invalid_argument", `${name} is not of the form ${form}`);
}
