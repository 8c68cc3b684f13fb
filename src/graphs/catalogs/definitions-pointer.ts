import { z } from "zod";
import { CommitSha } from "#core/commit-sha.ts";
import { problemNowhere } from "#definitions/definition-origin.ts";
import { DefinitionProblems } from "#definitions/definition-problems.ts";
import { readSourceFile } from "#definitions/source-file.ts";
import { SourceRepository } from "#definitions/sources-key.ts";
import type { CommitEntry } from "#git/commit-tree.ts";
import { readObjects } from "#git/read-objects.ts";
import type { Git } from "#git/run-git.ts";
import {
  definitionsDirectory,
  isDefinitionFile,
  type MirroredCommit,
} from "./read-definition-files.ts";

/** The file of a commit that states where its definitions are. */
export const pointerFile = `${definitionsDirectory}/source`;

/** The size limit, which is enough for every valid pointer. */
const mostBytes = 16 * 1024;

const Pointer = z.strictObject({
  repository: SourceRepository,
  // A commit id and not a branch, because with a branch the definitions of a commit would change
  // without the commit.
  commit: CommitSha,
});

/** A commit of another repository whose definitions a commit uses as its own. */
export type DefinitionsPointer = z.infer<typeof Pointer>;

/**
 * Reads a commit's pointer to definitions; returns undefined if it has none. `entries`: what `listDefinitions` returned.
 *
 * Throws `DefinitionProblems` for an unreadable pointer, and for a commit that also has definitions: it would be
 * unclear which of both apply.
 */
export async function definitionsPointer(
  git: Git,
  { mirror }: MirroredCommit,
  entries: readonly CommitEntry[],
): Promise<DefinitionsPointer | undefined> {
  const entry = entries.find(({ kind, path }) => kind === "file" && path === pointerFile);
  if (entry === undefined) return undefined;
  const other = entries.find(
    ({ kind, path }) => kind === "file" && path.split("/").length === 2 && isDefinitionFile(path),
  );
  if (other !== undefined) {
    const message = `says that the definitions are elsewhere, but ${other.path} exists, too: remove one of them`;
    throw new DefinitionProblems([problemNowhere(message, pointerFile)]);
  }
  for await (const object of readObjects(git, mirror, [entry.gitId])) {
    if (object.sizeBytes > mostBytes)
      throw new DefinitionProblems([problemNowhere("is larger than 16 KiB", pointerFile)]);
    return parsePointer(new TextDecoder().decode(await object.take()));
  }
  return undefined;
}

/** Reads the file: YAML with `repository` and `commit`. Throws `DefinitionProblems`. */
function parsePointer(text: string): DefinitionsPointer {
  const source = readSourceFile(pointerFile, text);
  if (Array.isArray(source)) throw new DefinitionProblems(source);
  const pointer = Pointer.safeParse(source.value);
  if (pointer.success) return pointer.data;
  throw new DefinitionProblems(
    pointer.error.issues.map(({ path, message }) => ({
      file: pointerFile,
      ...source.place(path),
      message: `${path.length === 0 ? "" : `${path.join(".")}: `}${message}; write repository: ADDRESS and commit: with all 40 digits`,
    })),
  );
}
