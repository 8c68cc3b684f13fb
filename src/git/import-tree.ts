import { problemOfContainedTarget } from "#cas/path-rules.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { CommitEntry, SkippedEntry } from "./commit-tree.ts";
import { type ImportServices, importObjects } from "./import-objects.ts";

interface ImportedTree {
  /** Ready to be filtered, merged and built into directories; all blobs are in the store. */
  readonly entries: readonly TreeEntry[];
  /** Symlinks that would leave the tree. */
  readonly skipped: readonly SkippedEntry[];
}

/** Longer than any legal target; a longer blob is not read. */
const maxTargetBytes = 4_096;

/** Imports files and symlinks of a commit, as listed by `listCommitTree`, into the store. */
export async function importTree(
  services: ImportServices,
  mirror: string,
  tree: readonly CommitEntry[],
): Promise<ImportedTree> {
  const digests = await importObjects(
    services,
    mirror,
    tree.map(({ gitId }) => gitId),
  );
  const digestOfEntry = ({ gitId, path }: CommitEntry): Digest => {
    const digest = digests.get(gitId);
    if (digest) return digest;
    throw new Fault("internal", `${path} was not imported`);
  };

  const links = tree.filter(({ kind }) => kind === "symlink");
  const targets = new Map(
    await mapAtMost(16, links, async (link): Promise<[string, string]> => {
      const digest = digestOfEntry(link);
      if (digest.sizeBytes > maxTargetBytes) return [link.path, "x".repeat(maxTargetBytes)];
      const bytes = await services.store.get(digest);
      return [link.path, Buffer.from(bytes ?? []).toString("utf8")];
    }),
  );

  const entries: TreeEntry[] = [];
  const skipped: SkippedEntry[] = [];
  for (const entry of tree) {
    const { path, executable } = entry;
    if (entry.kind === "file") {
      entries.push({ kind: "file", path, digest: digestOfEntry(entry), executable });
      continue;
    }
    const target = targets.get(path) ?? "";
    const why = problemOfContainedTarget(path, target);
    if (why) skipped.push({ path, why });
    else entries.push({ kind: "symlink", path, target });
  }
  return { entries, skipped };
}
