import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** What a ByteStream call is about. */
export interface BlobResource {
  /** May be empty, and may have slashes. */
  readonly instanceName: string;
  readonly digest: Digest;
}

/** Parses `[instance/]blobs/<hash>/<size>`. */
export function parseReadName(name: string): BlobResource {
  const segments = name.split("/");
  refuseCompressed(segments, name);
  const at = segments.indexOf("blobs");
  if (at < 0 || segments.length !== at + 3) throw misnamed(name, "[instance/]blobs/hash/size");
  return {
    instanceName: segments.slice(0, at).join("/"),
    digest: digestAt(segments, at + 1, name),
  };
}

/** Parses `[instance/]uploads/<uuid>/blobs/<hash>/<size>[/anything]`. */
export function parseWriteName(name: string): BlobResource {
  const segments = name.split("/");
  refuseCompressed(segments, name);
  const at = segments.indexOf("uploads");
  if (at < 0 || segments[at + 2] !== "blobs" || segments[at + 1] === "") {
    throw misnamed(name, "[instance/]uploads/uuid/blobs/hash/size");
  }
  return {
    instanceName: segments.slice(0, at).join("/"),
    digest: digestAt(segments, at + 3, name),
  };
}

function digestAt(segments: readonly string[], at: number, name: string): Digest {
  const [hash, size] = segments.slice(at, at + 2);
  const sizeBytes = /^\d+$/.test(size ?? "") ? Number(size) : Number.NaN;
  const digest = Digest.safeParse({ hash, sizeBytes });
  if (digest.success) return digest.data;
  throw new Fault("invalid_argument", `${name} names no blob by the SHA-256 and size of its bytes`);
}

function refuseCompressed(segments: readonly string[], name: string): void {
  if (!segments.includes("compressed-blobs")) return;
  throw new Fault(
    "unimplemented",
    `${name} is a compressed blob; this server takes and gives them plain`,
  );
}

function misnamed(name: string, form: string): Fault {
  return new Fault("invalid_argument", `${name} is not of the form ${form}`);
}
