import { Fault } from "#core/fault.ts";
import { compileGlob } from "./glob-machine.ts";
import { type GlobPart, parseGlob } from "./glob-syntax.ts";

/** The limit for all patterns of one job, in characters; it limits the cost of matching a path. */
const maxCharacters = 16_384;

/**
 * Returns which paths of a commit a list of patterns matches.
 *
 * `*`, `?` and `[a-z]` match within a name, `**` matches any directories, `{a,b}` either text; a backslash escapes the
 * next character. A pattern begins at the root. When its last name has no wildcard, it also matches everything below
 * that directory; with a slash at its end, only such paths. `!` removes paths that earlier patterns matched; the last
 * pattern that matches decides. An empty list matches everything, and so does a list that begins with `!`.
 *
 * Throws `invalid_argument` with the pattern and the reason. Patterns are untrusted, so there is no regular expression,
 * and time is linear in pattern and path.
 */
export function compileGlobs(patterns: readonly string[]): (path: string) => boolean {
  const total = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  if (total > maxCharacters) {
    throw new Fault(
      "invalid_argument",
      `the patterns have ${total} characters; ${maxCharacters} are allowed`,
    );
  }
  const rules = patterns.map((pattern) => {
    const isNegated = pattern.startsWith("!");
    return { isNegated, matches: compilePattern(isNegated ? pattern.slice(1) : pattern) };
  });
  const first = rules[0]?.isNegated ?? true;
  const lastFirst = rules.toReversed();

  return (path) => {
    const deciding = lastFirst.find(({ matches }) => matches(path));
    return deciding ? !deciding.isNegated : first;
  };
}

function compilePattern(pattern: string): (path: string) => boolean {
  const text = pattern.replace(/^(?:\.\/+)+/, "");
  const refuse = (why: string) =>
    new Fault("invalid_argument", `the pattern ${JSON.stringify(pattern)} ${why}`);
  if (text === "." || (text === "" && pattern !== "")) return () => true;
  if (text === "") throw refuse("is empty");
  if (text.startsWith("/")) throw refuse("begins with a slash; patterns always start at the root");
  if (text.split("/").includes("..")) throw refuse('has ".."; inputs are files of the commit');

  const directoryOnly = text.endsWith("/");
  const parts = parseGlob(directoryOnly ? text.replace(/\/+$/, "") : text);
  const below = directoryOnly ? "only" : endsPlainly(parts) ? "too" : "no";
  return compileGlob(parts, below);
}

/**
 * Returns whether the last name has no wildcard and so may be a directory. With braces, all alternatives must be so.
 */
function endsPlainly(parts: readonly GlobPart[]): boolean {
  for (const part of parts.toReversed()) {
    if (part.kind === "either") {
      if (!part.alternatives.every(endsPlainly)) return false;
    } else if (part.kind !== "literal") {
      return part.kind === "directories";
    } else if (part.codePoint === 0x2f) {
      return true;
    }
  }
  return true;
}
