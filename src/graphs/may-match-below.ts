import { compileGlobs } from "#git/glob.ts";

/**
 * Returns whether patterns may match a path, or anything below it. Without patterns, everything matches.
 *
 * If in doubt, returns true: a `!pattern` is only considered when it excludes everything below the path.
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
    // A pattern that names a directory matches everything in it.
    if (part === undefined || part === "" || part.includes("**")) return true;
    // Braces may contain a slash.
    if (/[{}]/.test(part)) return true;
    if (part !== name && !compileGlobs([part])(name)) return false;
  }
  return true;
}
