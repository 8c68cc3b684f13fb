import { problemOfPath } from "#cas/path-rules.ts";
import { Fault } from "#core/fault.ts";

/** A list of 100,000 paths has some megabytes. */
export const mostListBytes = 16 * 1024 * 1024;

const mostLines = 100_000;

/** The same limit as for a path. */
const maxPatternBytes = 2_048;

/** The list of a job that finds inputs. */
export interface InputList {
  /** Files and directories by name; a directory includes everything below it. */
  readonly names: readonly string[];
  /** Patterns as in `inputs`, none of them negated. */
  readonly patterns: readonly string[];
}

/**
 * Reads a list of inputs: one path or pattern per line; empty lines are ignored.
 *
 * A job wrote the list, so it is untrusted. Throws `failed_precondition` with the line that is wrong.
 */
export function readInputList(bytes: Uint8Array, from: string): InputList {
  const names = new Set<string>();
  const patterns = new Set<string>();
  const text = textOf(bytes, from);
  let at = 0;
  for (const line of text.split("\n")) {
    at++;
    const written = line.replace(/\r$/, "");
    if (written.trim() === "") continue;
    const path = written.replace(/^(\.\/+)+/, "");
    const isPattern = /[*?[\]{}\\]/.test(path);
    const problem = isPattern ? problemOfPattern(path) : problemOfName(path);
    if (problem !== undefined)
      throw new Fault("failed_precondition", `${from}, line ${at}: ${shown(path)} ${problem}`);
    if (isPattern) patterns.add(path);
    else names.add(path.replace(/\/+$/, ""));
    if (names.size + patterns.size > mostLines)
      throw new Fault("failed_precondition", `${from} names more than 100,000 paths`);
  }
  return { names: [...names], patterns: [...patterns] };
}

function textOf(bytes: Uint8Array, from: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Fault("failed_precondition", `${from} is not text in UTF-8`);
  }
}

function problemOfName(path: string): string | undefined {
  if (path.startsWith("!"))
    return "excludes something; a list only contains the files that are read";
  return problemOfPath(path.replace(/(?<=.)\/+$/, ""));
}

/**
 * Returns the problem of a pattern. Whether it compiles is checked at its use, because a file name may be an invalid
 * pattern.
 */
function problemOfPattern(pattern: string): string | undefined {
  if (pattern.startsWith("!"))
    return "excludes something; a list only contains the files that are read";
  if (pattern.startsWith("/")) return "is absolute";
  if (pattern.includes("\0")) return "has a NUL";
  return Buffer.byteLength(pattern) > maxPatternBytes ? "is longer than 2,048 bytes" : undefined;
}

function shown(path: string): string {
  return JSON.stringify(path.length <= 200 ? path : `${path.slice(0, 200)}…`);
}
