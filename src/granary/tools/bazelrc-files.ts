import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** The size limit, far above files that people write. */
const mostBytes = 1024 * 1024;
const mostFiles = 100;

export interface BazelrcFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the bazelrc files of a build with all their imports: the system's, the user's, and one in each directory up
 * to the top, because one of these is the workspace's.
 */
export function bazelrcFiles(
  directory: string,
  home: string,
  system = "/etc/bazel.bazelrc",
): BazelrcFile[] {
  const files = new Map<string, BazelrcFile>();
  const above = upFrom(directory);
  const workspace = above.find((at) => textOf(join(at, ".bazelrc")) !== undefined) ?? directory;

  function read(path: string, ofWorkspace: string): void {
    if (files.has(path) || files.size >= mostFiles) return;
    const text = textOf(path);
    if (text === undefined) return;
    files.set(path, { path, text });
    for (const imported of importsOf(text, ofWorkspace)) read(imported, ofWorkspace);
  }

  read(system, workspace);
  read(join(home, ".bazelrc"), workspace);
  for (const at of above) read(join(at, ".bazelrc"), at);
  return [...files.values()];
}

/** Source: https://bazel.build/run/bazelrc#imports */
function importsOf(text: string, workspace: string): string[] {
  return [...text.matchAll(/^[^\S\n]*(?:try-)?import[^\S\n]+(.*?)[^\S\n]*$/gm)]
    .map(([, path = ""]) => path.replace(/^(['"])(.*)\1$/, "$2").replace("%workspace%", workspace))
    .filter(isAbsolute);
}

function upFrom(directory: string): string[] {
  const above = [directory];
  for (let at = directory; at !== dirname(at); at = dirname(at)) above.push(dirname(at));
  return above;
}

function textOf(path: string): string | undefined {
  try {
    // The check avoids an exception, which costs more than the check, and most of these files do
    // not exist.
    const file = statSync(path, { throwIfNoEntry: false });
    return file?.isFile() && file.size <= mostBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
