import { fromBinary } from "@bufbuild/protobuf";
import { treeDigestOf } from "#actions/output-tree.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import {
  forgetResults,
  resultsUsedSince,
  type UnusedResult,
  unusedResults,
} from "#actions/unused-results.store.ts";
import {
  entriesUsedSince,
  forgetEntries,
  type UnusedEntry,
  unusedEntries,
} from "#caches/unused-entries.store.ts";
import { type Namespace, namespaceOf } from "#cas/namespaces/namespace.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { namedBy } from "./farm-claims.ts";

const atOnce = 200;

/** Returns whether a blob was removed, or will be removed in this round. */
type IsDoomed = (namespace: Namespace, digest: Digest) => Promise<boolean>;

/**
 * Deletes everything that names a blob before the blob is removed: results of actions, and entries of caches.
 *
 * Only those that were not used since `before` are read: serving a result checks all of its blobs, which makes them
 * young. Both record their use only once an hour, so this also finds results that were used a moment ago; the age of
 * their blobs decides. Returns the number of deleted entries.
 */
export async function forgetNamesOf(
  services: { readonly db: Tx; readonly treesOf: (project: string) => OutputTrees },
  before: Date,
  isDoomed: IsDoomed,
  signal: AbortSignal,
): Promise<number> {
  const { db, treesOf } = services;
  const anyDoomed = async (namespace: Namespace, digests: readonly Digest[]) => {
    for (const digest of digests) if (await isDoomed(namespace, digest)) return true;
    return false;
  };

  const results = await forgetThose<UnusedResult>({
    page: (after) => unusedResults(db, before, after, atOnce),
    // Reading a Tree may count as a use, depending on the mount options. So it is read only when it is known to stay.
    isUseless: async (result) => {
      const namespace = namespaceOf(result.project);
      if (await anyDoomed(namespace, treesIn(result))) return true;
      return anyDoomed(namespace, await namedBy(treesOf(result.project), result));
    },
    forget: (useless) => forgetResults(db, useless),
    signal,
  });
  const entries = await forgetThose<UnusedEntry>({
    page: (after) => unusedEntries(db, before, after, atOnce),
    isUseless: ({ project, digest }) => isDoomed(namespaceOf(project), digest),
    forget: (useless) => forgetEntries(db, useless),
    signal,
  });
  return results + entries;
}

/** An illegal result has none, and is never served. */
function treesIn({ result, actionDigest }: UnusedResult): readonly Digest[] {
  try {
    const { outputDirectories } = fromBinary(ActionResultSchema, result);
    return outputDirectories.map((each) => treeDigestOf(each, functionOf(actionDigest)));
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return [];
    throw reason;
  }
}

async function forgetThose<Name>(of: {
  readonly page: (after: Name | undefined) => Promise<readonly Name[]>;
  readonly isUseless: (name: Name) => Promise<boolean>;
  readonly forget: (names: readonly Name[]) => Promise<number>;
  readonly signal: AbortSignal;
}): Promise<number> {
  let forgotten = 0;
  let after: Name | undefined;
  for (;;) {
    const page = await of.page(after);
    const useless: Name[] = [];
    for (const name of page) {
      of.signal.throwIfAborted();
      if (await of.isUseless(name)) useless.push(name);
    }
    if (useless.length > 0) forgotten += await of.forget(useless);
    after = page.at(-1);
    if (page.length < atOnce) return forgotten;
  }
}

/** Yields, in batches, the blobs that results and cache entries name which were used since a time. */
export async function* namesUsedSince(
  { db, treesOf }: { readonly db: Tx; readonly treesOf: (project: string) => OutputTrees },
  since: Date,
  signal: AbortSignal,
): AsyncGenerator<
  { readonly project: string; readonly digests: readonly Digest[] },
  void,
  undefined
> {
  for (let after: UnusedResult | undefined; ; ) {
    const page = await resultsUsedSince(db, since, after, atOnce);
    for (const result of page) {
      signal.throwIfAborted();
      const { project } = result;
      yield { project, digests: [result.actionDigest, ...treesIn(result)] };
      yield { project, digests: await namedBy(treesOf(project), result) };
    }
    after = page.at(-1);
    if (page.length < atOnce) break;
  }
  for (let after: UnusedEntry | undefined; ; ) {
    const page = await entriesUsedSince(db, since, after, atOnce);
    for (const { project, digest } of page) yield { project, digests: [digest] };
    after = page.at(-1);
    if (page.length < atOnce) return;
  }
}
