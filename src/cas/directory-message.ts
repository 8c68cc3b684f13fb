import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type Directory,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { digestOf } from "./digest-of.ts";
import { assertFewParts } from "./message-parts.ts";
import { problemOfName, refuse } from "./path-rules.ts";
import { compareByCodePoint } from "./tree-entry.ts";

/** A Directory with the bytes that name it. */
export interface EncodedDirectory {
  readonly message: Directory;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/**
 * Encodes a Directory whose children are sorted.
 *
 * protobuf-es leaves default values out, and so does every other client: with
 * `is_executable = false` written out, Bazel arrives at another digest and crashes.
 */
export function encodeDirectory(
  message: Directory,
  by: DigestFunction = "sha256",
): EncodedDirectory {
  const bytes = toBinary(DirectorySchema, message);
  return { message, bytes, digest: digestOf(bytes, by) };
}

/** A file with its digest and properties is a few. */
const mostParts = 500_000;

/** Decodes a Directory that somebody else made. Throws `invalid_argument` when it is not one. */
export function decodeDirectory(bytes: Uint8Array): Directory {
  assertFewParts(DirectorySchema, bytes, mostParts);
  let message: Directory;
  try {
    message = fromBinary(DirectorySchema, bytes);
  } catch (cause) {
    throw new Fault("invalid_argument", "a directory of a tree cannot be decoded", { cause });
  }
  checkDirectory(message);
  return message;
}

/** Throws `invalid_argument` unless names are legal, sorted within their kind, and unique in all. */
export function checkDirectory({ files, directories, symlinks }: Directory): void {
  const seen = new Set<string>();
  for (const children of [files, directories, symlinks]) {
    let last: string | undefined;
    for (const { name } of children) {
      refuse(name, problemOfName(name));
      if (seen.has(name)) refuse(name, "is twice in one directory");
      if (last !== undefined && compareByCodePoint(last, name) > 0) {
        refuse(name, "is out of order in its directory");
      }
      seen.add(name);
      last = name;
    }
  }
}

/**
 * Whether a Directory says no more than we would: names, digests, what is executable.
 *
 * Times, modes and fields that we do not know are lost when a tree is read and built
 * again; such a Directory has another digest afterwards.
 */
export function isPlain({ files, directories, symlinks, ...directory }: Directory): boolean {
  const digests = [...files, ...directories].flatMap(({ digest }) => digest ?? []);
  return [directory, ...files, ...directories, ...symlinks, ...digests].every(
    (part) => part.$unknown === undefined && !("nodeProperties" in part && part.nodeProperties),
  );
}
