import { fromBinary } from "@bufbuild/protobuf";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import type { Namespace } from "#commit-index/result-key.ts";
import {
  type ActionResult,
  ActionResultSchema,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The limit for names in a report; the total number follows in a sentence. */
const mostNamed = 99;

/** Describes how the stored result and the new one differ, for people; empty when they are the same to their tool. */
export function differences(namespace: Namespace, kept: Uint8Array, madeNow: Uint8Array): string[] {
  if (Buffer.compare(kept, madeNow) === 0) return [];
  if (namespace === "reapi" || namespace === "bazel") return ofActionResults(kept, madeNow);
  return namespace === "ccache" ? ofCcacheEntries(kept, madeNow) : ["the bytes"];
}

/** Compares action results without the log, the time and the worker, which are not outputs. */
function ofActionResults(kept: Uint8Array, madeNow: Uint8Array): string[] {
  const before = outputsIn(kept);
  const now = outputsIn(madeNow);
  // Some tools store values in another format over HTTP.
  if (before === undefined || now === undefined) return ["the bytes"];
  const paths = [...new Set([...before.keys(), ...now.keys()])].sort();
  const differing = paths.filter((path) => before.get(path) !== now.get(path));
  const named = differing.slice(0, mostNamed).map((path) => path.slice(0, 1_000));
  return differing.length > named.length
    ? [...named, `and ${differing.length - named.length} more`]
    : named;
}

function outputsIn(bytes: Uint8Array): Map<string, string> | undefined {
  let result: ActionResult;
  try {
    result = fromBinary(ActionResultSchema, bytes);
  } catch {
    return undefined;
  }
  return new Map([
    ...result.outputFiles.map(({ path, digest, isExecutable }): [string, string] => [
      path,
      `file ${textOf(digest)}${isExecutable ? " executable" : ""}`,
    ]),
    ...result.outputDirectories.map(({ path, treeDigest }): [string, string] => [
      path,
      `tree ${textOf(treeDigest)}`,
    ]),
    ...outputSymlinksOf(result).map(({ path, target }): [string, string] => [
      path,
      `symlink ${target}`,
    ]),
  ]);
}

function textOf(digest: DigestMessage | undefined): string {
  return `${digest?.hash}/${digest?.sizeBytes}`;
}

/**
 * ccache's entries, as 4.7.5 writes them (format 1): the magic number, the format's version, the kind, the compression
 * and whether it is complete; then the creation time (8 bytes), the content, and a checksum over everything including
 * the time (16 bytes). Measured: two entries for the same result differ only in these 24 bytes.
 */
const ccacheMagic = 0xccac;
const timeAt = 7;
const afterTime = timeAt + 8;
const checksumBytes = 16;

function ofCcacheEntries(kept: Uint8Array, madeNow: Uint8Array): string[] {
  const before = partsOfCcacheEntry(kept);
  const now = partsOfCcacheEntry(madeNow);
  // Manifests collect the results of one source for several states of its headers, so two correct ones differ.
  if (before?.isResult !== true || now?.isResult !== true) return [];
  if (before.formatVersion !== 1 || now.formatVersion !== 1) return [];
  return Buffer.compare(before.head, now.head) === 0 && Buffer.compare(before.rest, now.rest) === 0
    ? []
    : ["the compiler's output"];
}

function partsOfCcacheEntry(entry: Uint8Array) {
  const bytes = Buffer.from(entry.buffer, entry.byteOffset, entry.byteLength);
  if (bytes.length < afterTime + checksumBytes || bytes.readUInt16BE(0) !== ccacheMagic) {
    return undefined;
  }
  return {
    formatVersion: bytes[2],
    isResult: bytes[3] === 0,
    head: bytes.subarray(0, timeAt),
    rest: bytes.subarray(afterTime, -checksumBytes),
  };
}
