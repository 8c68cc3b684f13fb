import { problemOfPath, problemOfTarget, refuse } from "#cas/path-rules.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { InputDirectory, InputProperties } from "./input-directory.ts";
import type { Layer } from "./plan-layers.ts";

/** The entries to create for a layer: directories with parents first, then the rest in any order. */
export interface LayerEntries {
  readonly directories: readonly LayerDirectory[];
  readonly files: readonly LayerFile[];
  readonly symlinks: readonly { readonly path: string; readonly target: string }[];
}

interface LayerDirectory {
  readonly path: string;
  readonly properties?: InputProperties;
}

interface LayerFile {
  readonly path: string;
  readonly digest: Digest;
  readonly executable: boolean;
  readonly properties?: InputProperties;
}

/** Lists a layer's entries by their paths below the root of the whole tree. */
export function layerEntries(root: InputDirectory, layer: Layer): LayerEntries {
  const directories: LayerDirectory[] = [];
  const files: LayerFile[] = [];
  const symlinks: { path: string; target: string }[] = [];
  const without = new Set(layer.without);

  const add = (path: string, { properties }: InputDirectory) => {
    directories.push({ path, ...(properties ? { properties } : {}) });
  };
  const walk = (directory: InputDirectory, at: string): void => {
    const place = (name: string): string => {
      const path = at === "" ? name : `${at}/${name}`;
      refuse(path, problemOfPath(path));
      return path;
    };
    for (const { name, ...file } of directory.files) files.push({ path: place(name), ...file });
    for (const { name, target } of directory.symlinks) {
      const path = place(name);
      refuse(path, problemOfTarget(path, target));
      symlinks.push({ path, target });
    }
    for (const child of directory.directories) {
      const path = place(child.name);
      // The directory itself is created in both layers: overlayfs merges them.
      add(path, child.directory);
      if (!without.has(path)) walk(child.directory, path);
    }
  };

  const made = new Set<string>();
  for (const path of layer.only ?? [layer.path]) {
    let at = root;
    const names = path === "" ? [] : path.split("/");
    names.forEach((name, depth) => {
      const next = at.directories.find((child) => child.name === name);
      if (!next) throw new Fault("internal", `layer ${path} is not in its tree`);
      at = next.directory;
      const above = names.slice(0, depth + 1).join("/");
      if (!made.has(above)) add(above, at);
      made.add(above);
    });
    walk(at, path);
  }
  return { directories, files, symlinks };
}
