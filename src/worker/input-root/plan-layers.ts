import { createHash } from "node:crypto";
import type { Digest } from "#core/digest.ts";
import type { InputDirectory } from "./input-directory.ts";

/** A part of an input tree that is built once, stored, and stacked with others. */
export interface Layer {
  /** The layer's name on disk. Equal for equal content at an equal path. */
  readonly key: string;
  readonly digest: Digest;
  /** The path of its directory below the root; empty for the root itself. */
  readonly path: string;
  /** The paths of several small directories in one layer, which contains no other directories. */
  readonly only?: readonly string[] | undefined;
  /** Paths below the root that other layers contain. */
  readonly without: readonly string[];
}

/** A part of every key; increase it when layers are built differently. */
export const layerFormat = "3";

/** Directories that package managers create: large, and equal for many commits. */
const dependencyDirectories = new Set(["node_modules", "vendor", "third_party", ".venv"]);

/**
 * The number of entries from which a separate layer is worth its mount; `met`: for subtrees that another tree had, too.
 */
const ownLayerFrom = { dependencies: 64, met: 24, other: 2_000 } as const;

/** The kernel accepts 500 and more, but all names must fit into one page of mount options. */
const mostLayers = 24;

/** How many of the layers contain a single directory; the other layers share the rest. */
const mostAlone = 11;

/**
 * Divides a tree into layers: one for each large subtree, and one for the rest.
 *
 * For a job that changes a source file, only the small rest is then built again, and the 10,000 files of `node_modules`
 * are shared with every other job. The same applies to parts that another tree had at the same place (`isMet`): the
 * actions of a build share headers and tools, and differ in a few files.
 */
export function planLayers(
  root: InputDirectory,
  isMet: (digest: Digest, path: string) => boolean = () => false,
): Layer[] {
  const cuts = findCuts(root, "", isMet).toSorted((a, b) => b.count - a.count);
  const fitsAlone = cuts.length < mostLayers;
  const alone = fitsAlone ? cuts : cuts.slice(0, mostAlone);
  const together = fitsAlone ? [] : cuts.slice(mostAlone);
  const rest = layer(root.digest, "", cuts.map(({ path }) => path).toSorted());
  return [
    rest,
    ...alone.map(({ digest, path }) => layer(digest, path, [])),
    ...bundles(root, together),
  ];
}

/**
 * Distributes subtrees over a few layers by their paths alone: when one subtree changes, only its layer is built again,
 * without it.
 */
function bundles(root: InputDirectory, cuts: readonly Cut[]): Layer[] {
  const byPlace = new Map<number, Cut[]>();
  for (const cut of cuts) {
    const place = createHash("sha256").update(cut.path).digest()[0] ?? 0;
    const bundle = place % (mostLayers - 1 - mostAlone);
    byPlace.set(bundle, [...(byPlace.get(bundle) ?? []), cut]);
  }
  return [...byPlace.values()].map((bundle) => {
    const sorted = bundle.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const only = sorted.map(({ path }) => path);
    const content = sorted.map(({ digest, path }) => [digest.hash, digest.sizeBytes, path]);
    return { key: keyOf(content), digest: root.digest, path: "", without: [], only };
  });
}

interface Cut {
  readonly digest: Digest;
  readonly path: string;
  readonly count: number;
}

function findCuts(
  at: InputDirectory,
  path: string,
  isMet: (digest: Digest, path: string) => boolean,
): Cut[] {
  return at.directories.flatMap(({ name, directory }) => {
    const { digest, entryCount: count } = directory;
    const below = path === "" ? name : `${path}/${name}`;
    if (count < ownLayerFrom.met) return [];
    const isWhole =
      dependencyDirectories.has(name) && count >= ownLayerFrom.dependencies
        ? true
        : isMet(digest, below);
    if (isWhole) return [{ digest, path: below, count }];
    const deeper = findCuts(directory, below, isMet);
    if (deeper.length > 0 || count < ownLayerFrom.other) return deeper;
    return [{ digest, path: below, count }];
  });
}

function layer(digest: Digest, path: string, without: readonly string[]): Layer {
  return { key: keyOf([digest.hash, digest.sizeBytes, path, without]), digest, path, without };
}

function keyOf(content: readonly unknown[]): string {
  const name = JSON.stringify([layerFormat, ...content]);
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}
