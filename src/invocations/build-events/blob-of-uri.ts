import {
  type Digest,
  digestFrom,
  digestFunctions,
  functionByLength,
  isHexOf,
} from "#core/digest.ts";

/**
 * The blob that a `bytestream://host/[instance/]blobs/[function/]hash/size` names.
 *
 * Undefined for all else: a `file://` is on the tool's machine alone.
 */
export function blobOfUri(uri: string): Digest | undefined {
  const found =
    /^bytestream:\/\/[^/]*\/(?:.*\/)?blobs\/(?:([a-z0-9]+)\/)?([0-9a-f]+)\/(\d{1,15})$/.exec(uri);
  if (found === null) return undefined;
  const [, named, hex = "", size] = found;
  const name =
    named === undefined ? functionByLength(hex) : digestFunctions.find((one) => one === named);
  if (name === undefined || !isHexOf(name, hex)) return undefined;
  return digestFrom(name, hex, Number(size));
}
