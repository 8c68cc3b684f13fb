import { expect, test } from "vitest";
import { buildDirectoryTree } from "#cas/build-directory-tree.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { type InputDirectory, inputDirectory } from "./input-directory.ts";
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

function graphOf(entries: readonly TreeEntry[]): InputDirectory {
  const tree = buildDirectoryTree(entries);
  const of = (digest: Digest): InputDirectory => {
    const found = tree.directories.get(digestKey(digest));
    if (!found) throw new Error("no such directory");
    return inputDirectory(digest, found.message, of);
  };
  return of(tree.root.digest);
}

test("gives dependencies a separate layer, which does not change with other files", () => {
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

test("distinguishes equal directories at different places", () => {
  const keys = planLayers(graphOf([...many("a/vendor", 80), ...many("b/vendor", 80)])).map(
    ({ key }) => key,
  );

  expect(new Set(keys).size).toBe(3);
});

test("the layers of a tree contain each of its files once", () => {
  const graph = graphOf([...many("node_modules/a", 100), ...many("src", 5)]);

  const files = planLayers(graph).flatMap((layer) =>
    layerEntries(graph, layer).files.map(({ path }) => path),
  );

  expect(files).toHaveLength(105);
  expect(new Set(files).size).toBe(105);
});

test("gives a part that another tree had at the same place its own layer", () => {
  const headers = many("include/lib", 30);
  const first = graphOf([...headers, file("src/a.c")]);
  const second = graphOf([...headers, file("src/b.c")]);
  const met = new Set(
    first.directories.map(({ name, directory }) => `${directory.digest.hash} ${name}`),
  );

  const plan = planLayers(second, (digest, path) => met.has(`${digest.hash} ${path}`));

  expect(plan.map(({ path }) => path)).toEqual(["", "include"]);
  const inRest = plan.slice(0, 1).flatMap((layer) => layerEntries(second, layer).files);
  expect(inRest.map(({ path }) => path)).toEqual(["src/b.c"]);
});

test("distributes many shared directories over few layers, and rebuilds only one of them", () => {
  const entries = Array.from({ length: 80 }, (_, n) => many(`lib/p${n}`, 30)).flat();
  const everything = () => true;
  const before = planLayers(graphOf([...entries, file("a")]), (_, path) => path.startsWith("lib/"));
  const changed = entries.filter(({ path }) => path !== "lib/p7/f3");
  const after = planLayers(
    graphOf(changed),
    (_, path) => path.startsWith("lib/") && path !== "lib/p7",
  );

  const known = new Set(before.map(({ key }) => key));
  expect(before.length).toBeLessThanOrEqual(24);
  expect(after.filter(({ key }) => !known.has(key)).length).toBeLessThanOrEqual(3);
  const files = after.flatMap((layer) =>
    layerEntries(graphOf(changed), layer).files.map(({ path }) => path),
  );
  expect(new Set(files).size).toBe(changed.length);
  expect(files).toHaveLength(changed.length);
  expect(planLayers(graphOf(entries), everything).map(({ path }) => path)).toEqual(["", "lib"]);
});
