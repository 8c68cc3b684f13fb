import { expect, test } from "vitest";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { digestKey } from "#core/digest.ts";
import type { DirectoryGraph } from "./directory-graph.ts";
import { layerEntries } from "./layer-entries.ts";
import { planLayers } from "./plan-layers.ts";

const file = (path: string): TreeEntry => ({
  kind: "file",
  path,
  digest: digestOf(Buffer.from(path)),
  executable: false,
});
const many = (at: string, count: number) =>
  Array.from({ length: count }, (_, i) => file(`${at}/f${i}`));

function graphOf(entries: readonly TreeEntry[]): DirectoryGraph {
  const tree = buildDirectoryTree(entries);
  const of = (key: string) => {
    const found = tree.directories.get(key);
    if (!found) throw new Error("no such directory");
    return found.message;
  };
  const count = (key: string): number => {
    const { files, symlinks, directories } = of(key);
    const below = directories.map(
      ({ digest }) => 1 + count(`${digest?.hash}/${digest?.sizeBytes}`),
    );
    return files.length + symlinks.length + below.reduce((sum, n) => sum + n, 0);
  };
  return {
    root: tree.root.digest,
    directory: (digest) => of(digestKey(digest)),
    entryCount: (digest) => count(digestKey(digest)),
  };
}

test("gives dependencies a layer of their own, which a change elsewhere leaves as it is", () => {
  const dependencies = many("web/node_modules/a", 100);

  const before = planLayers(graphOf([...dependencies, file("web/a.ts")]));
  const after = planLayers(graphOf([...dependencies, file("web/b.ts")]));

  expect(before.map(({ path }) => path)).toEqual(["", "web/node_modules"]);
  expect(after[1]?.key).toBe(before[1]?.key);
  expect(after[0]?.key).not.toBe(before[0]?.key);
});

test("keeps a small tree in one layer", () => {
  expect(planLayers(graphOf([...many("node_modules/a", 10), file("a")]))).toHaveLength(1);
});

test("tells equal directories at different places apart", () => {
  const keys = planLayers(graphOf([...many("a/vendor", 80), ...many("b/vendor", 80)])).map(
    ({ key }) => key,
  );

  expect(new Set(keys).size).toBe(3);
});

test("the layers of a tree hold each of its files once", () => {
  const graph = graphOf([...many("node_modules/a", 100), ...many("src", 5)]);

  const files = planLayers(graph).flatMap((layer) =>
    layerEntries(graph, layer).files.map(({ path }) => path),
  );

  expect(files).toHaveLength(105);
  expect(new Set(files).size).toBe(105);
});
