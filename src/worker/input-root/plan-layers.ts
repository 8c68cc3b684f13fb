import { createHash } from "node:crypto";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { quotePath } from "#cas/path-rules.ts";
import type { Digest } from "#core/digest.ts";
import type { DirectoryGraph } from "./directory-graph.ts";

/** A part of an input tree that is built once, kept, and stacked with others. */
export interface Layer {
  /** Names the layer on disk. Equal for equal content at an equal path. */
  readonly key: string;
  readonly digest: Digest;
  /** Where its directory lies below the root; empty for the root itself. */
  readonly path: string;
  /** Paths below the root that other layers bring. */
  readonly without: readonly string[];
}

/** Part of every key: to be raised when layers are built differently. */
const format = "2";

/** What package managers fill: large, and the same for many commits. */
const dependencyDirectories = new Set(["node_modules", "vendor", "third_party", ".venv"]);
const ownLayerFrom = { dependencies: 64, other: 2_000 } as const;

/** The kernel takes 500 and more, but all names must fit into one page of mount options. */
const mostLayers = 24;

/**
 * Cuts a tree into layers: each big subtree is one, and the rest together is one.
 *
 * A job that changes a source file then builds the small rest anew and shares
 * the 10,000 files of `node_modules` with every other job.
 */
export function planLayers(graph: DirectoryGraph): Layer[] {
  const cuts = findCuts(graph, graph.root, "").toSorted((a, b) => b.count - a.count);
  const big = cuts.slice(0, mostLayers - 1).map(({ digest, path }) => layer(digest, path, []));
  const rest = layer(graph.root, "", big.map(({ path }) => path).toSorted());
  return [rest, ...big];
}

interface Cut {
  readonly digest: Digest;
  readonly path: string;
  readonly count: number;
}

function findCuts(graph: DirectoryGraph, at: Digest, path: string): Cut[] {
  return graph.directory(at).directories.flatMap((child) => {
    const digest = fromDigestMessage(child.digest, quotePath(child.name));
    const count = graph.entryCount(digest);
    const below = path === "" ? child.name : `${path}/${child.name}`;
    const isDependencies = dependencyDirectories.has(child.name);
    if (count < ownLayerFrom.dependencies) return [];
    if (isDependencies) return [{ digest, path: below, count }];
    const deeper = findCuts(graph, digest, below);
    if (deeper.length > 0 || count < ownLayerFrom.other) return deeper;
    return [{ digest, path: below, count }];
  });
}

function layer(digest: Digest, path: string, without: readonly string[]): Layer {
  const name = JSON.stringify([format, digest.hash, digest.sizeBytes, path, without]);
  const key = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { key, digest, path, without };
}
