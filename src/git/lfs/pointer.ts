import { type Digest, parseDigestKey } from "#core/digest.ts";

/** The id of a file's content in Git LFS: its SHA-256, as in our own store. */
export type LfsObject = Digest;

/** The longest pointer: Git LFS does not read longer ones. */
export const mostPointerBytes = 1_023;
/** The version line, a SHA-256 and a size of one digit. */
export const leastPointerBytes = 126;

const line = /^([a-z0-9.-]+) ([^\n]+)$/;

/**
 * Reads a pointer file of Git LFS; undefined for all other files.
 *
 * As strict as the specification: the version first, then keys in alphabetical order, each line ended with a line feed,
 * an SHA-256 in lower case. A file that is only similar to a pointer counts as an ordinary file.
 */
export function parsePointer(bytes: Uint8Array): LfsObject | undefined {
  if (bytes.byteLength > mostPointerBytes || bytes.byteLength < leastPointerBytes) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  if (!text.startsWith("version https://git-lfs.github.com/spec/v1\n") || !text.endsWith("\n"))
    return undefined;
  const values = new Map<string, string>();
  let before = "";
  for (const each of text.slice(0, -1).split("\n").slice(1)) {
    const [, key, value] = line.exec(each) ?? [];
    if (key === undefined || value === undefined || key <= before) return undefined;
    values.set(key, value);
    before = key;
  }
  const [, hash] = /^sha256:([0-9a-f]{64})$/.exec(values.get("oid") ?? "") ?? [];
  const size = values.get("size") ?? "";
  // An extension's program makes the content, and the farm does not run it.
  if ([...values.keys()].some((key) => key.startsWith("ext-"))) return undefined;
  if (hash === undefined || !/^(0|[1-9]\d{0,14})$/.test(size)) return undefined;
  return parseDigestKey(`${hash}/${size}`);
}
