import { Fault } from "#core/fault.ts";
import { suggestion } from "#definitions/nearest-name.ts";
import { compileGlobs } from "#git/glob.ts";

/**
 * The limit for files that one job may read. With more files, building and checking trees would
 * delay the server.
 */
const mostFiles = 300_000;

/**
 * Returns the files of a commit that a job's patterns match: all without a list, none with an empty one.
 *
 * A pattern without wildcards must match: throws `invalid_argument` otherwise. One with wildcards may match nothing.
 * Paths inside one of the `submodules` are looked up there.
 */
export function selectInputs<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
  patterns: readonly string[] | undefined,
  submodules: readonly string[] = [],
): readonly Entry[] {
  if (patterns === undefined) return limited(entries);
  // An empty list of globs means everything.
  if (patterns.length === 0) return [];
  for (const pattern of patterns) {
    if (!isPlain(pattern) || submodules.some((at) => isAtOrBelow(pattern, at))) continue;
    const means = compileGlobs([pattern]);
    if (entries.some((entry) => means(entry.path))) continue;
    const meant = suggestion(
      pattern,
      entries.map((entry) => entry.path),
    );
    throw new Fault("invalid_argument", `inputs: "${pattern}" is not in the commit${meant}`);
  }
  const isRead = compileGlobs(patterns);
  return limited(entries.filter((entry) => isRead(entry.path)));
}

/**
 * Returns the same for a submodule at a path. Its files have their own paths, the patterns are those of the outer
 * commit.
 */
export function selectOfSubmodule<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
  at: string,
  patterns: readonly string[] | undefined,
): readonly Entry[] {
  if (patterns === undefined) return limited(entries);
  if (patterns.length === 0) return [];
  for (const pattern of patterns) {
    if (!isPlain(pattern) || !isAtOrBelow(pattern, at)) continue;
    const means = compileGlobs([pattern]);
    if (entries.some(({ path }) => means(`${at}/${path}`))) continue;
    throw new Fault("invalid_argument", `inputs: "${pattern}" is not in the submodule ${at}`);
  }
  const isRead = compileGlobs(patterns);
  return limited(entries.filter(({ path }) => isRead(`${at}/${path}`)));
}

/** Returns whether a pattern names one path. */
function isPlain(pattern: string): boolean {
  return !/^!|[*?[\]{}\\]/.test(pattern);
}

function isAtOrBelow(pattern: string, at: string): boolean {
  const path = pattern.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  return path === at || path.startsWith(`${at}/`);
}

function limited<Entry>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.length <= mostFiles) return entries;
  const message = `inputs: the job reads ${entries.length} files, more than ${mostFiles}; narrow its patterns`;
  throw new Fault("invalid_argument", message);
}
