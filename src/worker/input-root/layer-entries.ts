import { fromDigestMessage } from "#cas/digest-message.ts";
import { problemOfPath, problemOfTarget, refuse } from "#cas/path-rules.ts";
import type { Digest } from "#core/digest.ts";
import type { DirectoryGraph } from "./directory-graph.ts";
import type { Layer } from "./plan-layers.ts";

/** What must be made for a layer: directories parents first, then the rest in any order. */
export interface LayerEntries {
  readonly directories: readonly string[];
  readonly files: readonly { path: string; digest: Digest; executable: boolean }[];
  readonly symlinks: readonly { path: string; target: string }[];
}

/** Lists a layer's entries by their paths below the root of the whole tree. */
export function layerEntries(graph: DirectoryGraph, layer: Layer): LayerEntries {
  const directories: string[] = [];
  const files: { path: string; digest: Digest; executable: boolean }[] = [];
  const symlinks: { path: string; target: string }[] = [];
  const without = new Set(layer.without);

  const walk = (digest: Digest, at: string): void => {
    const directory = graph.directory(digest);
    const place = (name: string): string => {
      const path = at === "" ? name : `${at}/${name}`;
      refuse(path, problemOfPath(path));
      return path;
    };
    for (const file of directory.files) {
      const path = place(file.name);
      const digest = fromDigestMessage(file.digest, path);
      files.push({ path, digest, executable: file.isExecutable });
    }
    for (const { name, target } of directory.symlinks) {
      const path = place(name);
      refuse(path, problemOfTarget(path, target));
      symlinks.push({ path, target });
    }
    for (const child of directory.directories) {
      const path = place(child.name);
      // The directory itself is made in both layers: overlayfs merges them.
      directories.push(path);
      if (!without.has(path)) walk(fromDigestMessage(child.digest, path), path);
    }
  };

  for (let slash = layer.path.indexOf("/"); slash > 0; slash = layer.path.indexOf("/", slash + 1)) {
    directories.push(layer.path.slice(0, slash));
  }
  if (layer.path !== "") directories.push(layer.path);
  walk(layer.digest, layer.path);
  return { directories, files, symlinks };
}
