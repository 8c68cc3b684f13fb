import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "./build-directory-tree.ts";
import { digestOf } from "./digest-of.ts";
import { flattenDirectoryTree } from "./flatten-directory-tree.ts";
import { layOver } from "./lay-over.ts";
import { memoryBlobStore } from "./memory-blob-store.ts";
import { mergeTrees, type Overlay, placedAt } from "./merge-trees.ts";
import type { TreeEntry, TreePart } from "./tree-entry.ts";

const file = (path: string, text = "text"): TreeEntry => ({
  kind: "file",
  path,
  digest: digestOf(Buffer.from(text)),
  executable: false,
});

const store = memoryBlobStore();

async function subtree(path: string, entries: readonly TreeEntry[]): Promise<TreePart> {
  return {
    kind: "subtree",
    path,
    digest: await uploadDirectories(store, buildDirectoryTree(entries)),
  };
}

/** The expected root, computed without subtrees: everything is flattened, merged and built. */
async function rootOfEntries(base: readonly TreeEntry[], overlays: readonly Overlay[]) {
  const apart = await Promise.all(
    overlays.map(async (overlay) => ({
      ...overlay,
      entries: (await Promise.all(overlay.entries.map(entriesOf))).flat(),
    })),
  );
  return buildDirectoryTree(mergeTrees(base, apart)).root.digest;
}

async function entriesOf(part: TreePart): Promise<TreePart[]> {
  if (part.kind !== "subtree") return [part];
  const entries = await flattenDirectoryTree(store, part.digest);
  const { path } = part;
  return entries.length === 0 ? [{ kind: "directory", path }] : placedAt(path, entries);
}

async function rootOfParts(base: readonly TreeEntry[], overlays: readonly Overlay[]) {
  return buildDirectoryTree(await layOver(store, base, overlays)).root.digest;
}

const names = fc.constantFrom("a", "b", "a.b", "é", "😀");
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((all) => all.join("/"));
/** Generates entries, none of which is below another. */
const trees = fc
  .uniqueArray(paths, { maxLength: 6 })
  .map((all) => all.filter((path) => !all.some((other) => path.startsWith(`${other}/`))))
  .chain((all) =>
    fc.tuple(
      ...all.map((path) =>
        fc.constantFrom<TreeEntry>(
          file(path),
          file(path, "other"),
          { kind: "symlink", path, target: "x" },
          { kind: "directory", path },
        ),
      ),
    ),
  );
const overlaid = fc.array(
  fc.record({
    at: fc.oneof(fc.constant(""), paths),
    directories: fc.uniqueArray(fc.record({ path: paths, entries: trees }), {
      selector: ({ path }) => path,
      maxLength: 2,
    }),
    entries: trees,
  }),
  { maxLength: 3 },
);

describe("overlays with subtrees", () => {
  test("have the root that all their entries have, or are refused in the same words", async () => {
    let built = 0;
    await fc.assert(
      fc.asyncProperty(trees, overlaid, async (base, made) => {
        const overlays = await Promise.all(
          made.map(async ({ at, directories, entries }, n) => ({
            at,
            from: `job "${n}"`,
            entries: [
              ...entries,
              ...(await Promise.all(directories.map((d) => subtree(d.path, d.entries)))),
            ],
          })),
        );
        const [expected, actual] = await Promise.allSettled([
          rootOfEntries(base, overlays),
          rootOfParts(base, overlays),
        ]);
        expect(actual).toEqual(expected);
        if (actual.status === "fulfilled") built++;
      }),
      { numRuns: 500 },
    );
    expect(built).toBeGreaterThan(50);
  });

  test("leave whole what nothing else touches", async () => {
    const modules = await subtree("node_modules", [file("x/index.js"), file("y/index.js")]);

    const parts = await layOver(
      store,
      [file("node"), file("node_modules.lock"), file("src/a")],
      [
        { at: "", from: 'job "install"', entries: [modules] },
        { at: "", from: 'job "build"', entries: [file("dist/a.js")] },
      ],
    );

    expect(parts).toContainEqual(modules);
    expect(parts).toHaveLength(5);
  });

  test.each<[string, string]>([
    ["a file of the commit inside of it", "node_modules/x/own.js"],
    ["a file of the commit in its place", "node_modules"],
  ])("take apart a subtree with %s", async (_, path) => {
    const modules = await subtree("node_modules", [file("x/index.js")]);
    const overlays = [{ at: "", from: 'job "install"', entries: [modules] }];

    const parts = await layOver(store, [file(path)], overlays);

    expect(parts).toEqual([file("node_modules/x/index.js"), file(path)].toSorted(byPath));
  });

  test("name both jobs that bring different files to one path inside of subtrees", async () => {
    const overlays = [
      { at: "", from: 'job "one"', entries: [await subtree("out", [file("a", "1")])] },
      { at: "out", from: 'job "other"', entries: [file("a", "2")] },
    ];

    await expect(layOver(store, [], overlays)).rejects.toThrow(
      '"out/a" comes from job "one" and, with other content, from job "other"',
    );
  });

  test("need no Directory of a subtree that stays whole", async () => {
    const modules = await subtree("node_modules", [file("far/away")]);
    const overlays = [{ at: "in", from: 'job "install"', entries: [modules] }];

    expect(await layOver(memoryBlobStore(), [], overlays)).toEqual([
      { ...modules, path: "in/node_modules" },
    ]);
  });
});

function byPath(a: TreeEntry, b: TreeEntry): number {
  return a.path < b.path ? -1 : 1;
}
