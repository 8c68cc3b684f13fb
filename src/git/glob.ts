import { Fault } from "#core/fault.ts";
import { compileGlob } from "./glob-machine.ts";
import { type GlobPart, parseGlob } from "./glob-syntax.ts";

/** Patterns of one job, in characters: it bounds what matching one path may cost. */
const maxCharacters = 16_384;

/**
 * Says which paths of a commit a list of patterns means.
 *
 * `*`, `?` and `[a-z]` stay within a name, `**` stands for any directories, `{a,b}` for
 * either, a backslash takes the next character as it is. A pattern begins at the root.
 * One whose last name is plain means all below it, if it is a directory; one that ends
 * with a slash means only that. `!` takes away what earlier patterns gave; the last
 * pattern that fits decides. No pattern means everything, and so does a first `!`.
 *
 * Throws `invalid_argument` with the pattern and the reason. Patterns come from
 * anybody, so there is no regular expression, and time is linear in pattern and path.
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
  if (text.startsWith("/")) throw refuse("begins with a slash; patterns begin at the root anyway");
  if (text.split("/").includes("..")) throw refuse('has ".."; inputs are files of the commit');

  const directoryOnly = text.endsWith("/");
  const parts = parseGlob(directoryOnly ? text.replace(/\/+$/, "") : text);
  const below = directoryOnly ? "only" : endsPlainly(parts) ? "too" : "no";
  return compileGlob(parts, below);
}

/**
 * Whether the last name has no wildcard, and can therefore be the name of a
 * directory. With braces, all that they stand for must be so.
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
