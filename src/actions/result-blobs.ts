import { fromDigestMessage } from "#cas/digest-message.ts";
import { quotePath, refuse } from "#cas/path-rules.ts";
import { type Digest, type DigestFunction, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type {
  ActionResult,
  OutputDirectory,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { treeDigestOf } from "./output-tree.ts";
import type { OutputTrees } from "./output-trees.ts";

/** Trees read at once; each may be large. */
const treesAtOnce = 4;

/** Blobs checked in one call: more would block the event loop. */
const requestedAtOnce = 4_096;

/**
 * Returns every blob that a result refers to: output files, Trees with all their files, stdout and stderr. Of a Tree
 * that is not in the store, returns only the Tree.
 *
 * Throws `invalid_argument` when the result or a Tree is malformed.
 *
 * @param by The digest function of the action; digests in its result do not state theirs.
 */
export async function blobsOfResult(
  trees: OutputTrees,
  result: ActionResult,
  by: DigestFunction,
): Promise<Digest[]> {
  const inTrees = await mapAtMost(treesAtOnce, result.outputDirectories, (directory) =>
    blobsOfDirectory(trees, directory, by),
  );
  const all = [
    ...result.outputFiles.map(({ path, digest }) => fromDigestMessage(digest, quotePath(path), by)),
    ...inTrees.flat(),
    ...(result.stdoutDigest ? [fromDigestMessage(result.stdoutDigest, "stdout", by)] : []),
    ...(result.stderrDigest ? [fromDigestMessage(result.stderrDigest, "stderr", by)] : []),
  ];
  const turn = takingTurns();
  const once = new Map<string, Digest>();
  for (const digest of all) {
    await turn();
    once.set(digestKey(digest), digest);
  }
  return [...once.values()];
}

/** Returns the blobs of a result that are not in the store; none when it is complete. */
export async function missingBlobsOf(
  trees: OutputTrees,
  result: ActionResult,
  by: DigestFunction,
): Promise<Digest[]> {
  const blobs = await blobsOfResult(trees, result, by);
  const turn = takingTurns();
  const missing: Digest[] = [];
  for (let offset = 0; offset < blobs.length; offset += requestedAtOnce) {
    await turn();
    missing.push(...(await trees.store.findMissing(blobs.slice(offset, offset + requestedAtOnce))));
  }
  return missing;
}

async function blobsOfDirectory(
  trees: OutputTrees,
  directory: OutputDirectory,
  by: DigestFunction,
): Promise<readonly Digest[]> {
  const digest = treeDigestOf(directory, by);
  const content = await trees.contentOf(digest);
  if (content === undefined) return [digest];
  const depth = directory.path.split("/").filter((name) => name !== "").length;
  if (content.levelsAbove > depth)
    refuse(directory.path, "has a symlink that leads out of the root");
  if (directory.rootDirectoryDigest === undefined) return [digest, ...content.files];
  // In that case the reader was informed that it may read the directories one by one.
  const root = fromDigestMessage(directory.rootDirectoryDigest, quotePath(directory.path), by);
  return [digest, root, ...content.directories, ...content.files];
}

/** Returns whether all blobs of a result exist, and its Trees can be read. */
export async function isComplete(
  trees: OutputTrees,
  result: ActionResult,
  by: DigestFunction,
): Promise<boolean> {
  try {
    return (await missingBlobsOf(trees, result, by)).length === 0;
  } catch (reason) {
    if (reason instanceof Fault && losses.has(reason.code)) return false;
    throw reason;
  }
}

/** Faults that concern the blobs. The caller handles others, such as a store that does not respond. */
const losses: ReadonlySet<Fault["code"]> = new Set(["data_loss", "invalid_argument"]);
