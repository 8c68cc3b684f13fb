import { assertLegalPath, quotePath } from "#cas/path-rules.ts";
import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { type GitId, listCommitTree } from "./commit-tree.ts";
import { readObjects } from "./read-objects.ts";
import type { Git } from "./run-git.ts";

interface FileLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/** Enough for realistic definitions, but not for a decompression bomb or similar. */
const defaultFileLimits: FileLimits = {
  maxFiles: 1_000,
  maxFileBytes: 1024 * 1024,
  maxTotalBytes: 8 * 1024 * 1024,
};

interface CommitFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Returns the files below a directory of a commit, sorted by path; none when there is no such directory. Symlinks are
 * not followed, and left out.
 *
 * Throws `resource_exhausted`, naming the file, beyond the limits.
 */
export async function readFilesBelow(
  git: Git,
  mirror: string,
  sha: CommitSha,
  directory: string,
  limits: FileLimits = defaultFileLimits,
): Promise<CommitFile[]> {
  assertLegalPath(directory);
  const { entries } = await listCommitTree(git, mirror, sha, directory);
  const files = entries.filter(({ kind }) => kind === "file");
  if (files.length > limits.maxFiles) {
    throw new Fault(
      "resource_exhausted",
      `${directory}/ has ${files.length} files; ${limits.maxFiles} are allowed`,
    );
  }
  const contents = new Map<GitId, Buffer>();
  let totalBytes = 0;
  const ids = [...new Set(files.map(({ gitId }) => gitId))];
  for await (const object of readObjects(git, mirror, ids)) {
    totalBytes += object.sizeBytes;
    if (object.sizeBytes > limits.maxFileBytes || totalBytes > limits.maxTotalBytes) {
      const path = files.find(({ gitId }) => gitId === object.gitId)?.path ?? directory;
      throw new Fault(
        "resource_exhausted",
        `${quotePath(path)} has ${object.sizeBytes} bytes; a file may have ${limits.maxFileBytes}, all below ${directory}/ together ${limits.maxTotalBytes}`,
      );
    }
    contents.set(object.gitId, await object.take());
  }
  return files.map(({ path, gitId }) => ({ path, bytes: contents.get(gitId) ?? new Uint8Array() }));
}
