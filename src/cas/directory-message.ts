import { isUtf8 } from "node:buffer";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Directory,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { digestOf } from "./digest-of.ts";
import { assertFewParts } from "./message-parts.ts";
import { problemOfName, quotePath, refuse } from "./path-rules.ts";
import { compareByCodePoint } from "./tree-entry.ts";

/** A Directory with its encoded bytes, whose digest is its name. */
export interface EncodedDirectory {
  readonly message: Directory;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Encodes a Directory whose children are sorted.
 *
 * protobuf-es omits default values, and so does every other client. If `is_executable = false` were written, Bazel
 * would compute another digest and crash.
 */
export function encodeDirectory(
  message: Directory,
  by: DigestFunction = "sha256",
): EncodedDirectory {
  const bytes = toBinary(DirectorySchema, message);
  return { message, bytes, digest: digestOf(bytes, by) };
}

/** A file with its digest and properties consists of a few parts. */
const mostParts = 500_000;

/** Decodes an untrusted Directory. Throws `invalid_argument` when it is not one. */
export function decodeDirectory(bytes: Uint8Array): Directory {
  assertFewParts(DirectorySchema, bytes, mostParts);
  let message: Directory;
  try {
    message = fromBinary(DirectorySchema, bytes);
  } catch (cause) {
    throw undecodable(bytes, cause);
  }
  checkDirectory(message);
  return message;
}

/** Returns the fault for bytes that are not a Directory: often a name is not UTF-8, which protobuf does not allow. */
export function undecodable(bytes: Uint8Array, cause: unknown): Fault {
  const name = nameNotUtf8(bytes);
  const why =
    name === undefined
      ? "a directory of a tree cannot be decoded"
      : `a directory of a tree holds the name ${quotePath(name)} (its bytes shown as Latin-1), which is not valid UTF-8: rename it`;
  return new Fault("invalid_argument", why, { cause });
}

/** Returns the first name or symlink target that is not UTF-8. */
function nameNotUtf8(bytes: Uint8Array): string | undefined {
  const { files, directories, symlinks } = DirectorySchema.field;
  const nodes: readonly number[] = [files.number, directories.number, symlinks.number];
  try {
    for (const [field, node] of lengthDelimited(bytes)) {
      if (!nodes.includes(field)) continue;
      const isLink = field === symlinks.number;
      for (const [inner, text] of lengthDelimited(node)) {
        const isText = inner === 1 || (isLink && inner === 2);
        if (isText && !isUtf8(text)) return Buffer.from(text).toString("latin1");
      }
    }
  } catch {
    // The bytes are not a message.
  }
  return undefined;
}

function* lengthDelimited(bytes: Uint8Array): Generator<readonly [number, Uint8Array]> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) yield [field, reader.bytes()];
    else reader.skip(wireType, field);
  }
}

/** Throws `invalid_argument` unless names are legal, sorted within their kind, and unique across kinds. */
export function checkDirectory({ files, directories, symlinks }: Directory): void {
  const seen = new Set<string>();
  for (const children of [files, directories, symlinks]) {
    let last: string | undefined;
    for (const { name } of children) {
      refuse(name, problemOfName(name));
      if (seen.has(name)) refuse(name, "occurs twice in one directory");
      if (last !== undefined && compareByCodePoint(last, name) > 0) {
        refuse(name, "is in the wrong order in its directory");
      }
      seen.add(name);
      last = name;
    }
  }
}

/**
 * Returns whether a Directory contains only what this code writes: names, digests, and executable bits.
 *
 * Times, modes and unknown fields are lost when a tree is read and built again, so such a Directory would get another
 * digest.
 */
export function isPlain({ files, directories, symlinks, ...directory }: Directory): boolean {
  const digests = [...files, ...directories].flatMap(({ digest }) => digest ?? []);
  return [directory, ...files, ...directories, ...symlinks, ...digests].every(
    (part) => part.$unknown === undefined && !("nodeProperties" in part && part.nodeProperties),
  );
}
