import { compileGlobs } from "#git/glob.ts";

/**
 * Whether patterns may mean a path, or anything below it. Without patterns, all is meant.
 *
 * Errs on the side of yes: what is left out below the path by `!pattern` is not looked at, but for a
 * pattern that leaves out all of it.
 */
export function mayMatchBelow(patterns: readonly string[] | undefined, path: string): boolean {
  if (patterns === undefined) return true;
  const isLeftOut = patterns.some(
    (pattern) => pattern === `!${path}` || pattern === `!${path}/**` || pattern === `!${path}/`,
  );
  if (isLeftOut) return false;
  const positive = patterns.filter((pattern) => !pattern.startsWith("!"));
  // As with globs: patterns that only exclude apply to everything.
  if (positive.length === 0) return patterns.length > 0;
  return positive.some((pattern) => mayMatch(pattern, path.split("/")));
}

function mayMatch(pattern: string, path: readonly string[]): boolean {
  const parts = pattern.replace(/^\.?\/+/, "").split("/");
  for (const [n, name] of path.entries()) {
    const part = parts[n];
    // Of a directory, all is meant.
    if (part === undefined || part === "" || part.includes("**")) return true;
    // Braces may hold a slash.
    if (/[{}]/.test(part)) return true;
    if (part !== name && !compileGlobs([part])(name)) return false;
  }
  return true;
}
