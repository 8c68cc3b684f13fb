import { Fault } from "#core/fault.ts";
import { componentsOf } from "./entry-paths.ts";
import type { LayerEntry, LayerIndex } from "./layer-index.ts";

/** A part of the root file system of an image, in memory. */
export type MergedNode =
  | MergedDirectory
  /** File `number` of layer `layer`. */
  | { readonly kind: "file"; readonly layer: number; readonly number: number }
  | { readonly kind: "symlink"; readonly target: string }
  /** A file that the farm writes. */
  | { readonly kind: "text"; readonly text: string };

export interface MergedDirectory {
  readonly kind: "directory";
  mode: number;
  mtime: number;
  readonly children: Map<string, MergedNode>;
}

/** As many as Linux follows. */
const mostLinks = 40;
const mostNodes = 1_000_000;

export function emptyDirectory(): MergedDirectory {
  return { kind: "directory", mode: 0o755, mtime: 0, children: new Map() };
}

/**
 * Returns the root file system that layers come to, the lowest layer first. Pure: all links of the image are resolved in
 * this tree, never on the disk.
 *
 * Whiteouts remove what lower layers have, also when they follow an entry of the same name in their own layer. Throws
 * `invalid_argument` for a layer that contradicts itself.
 */
export function mergeLayers(layers: readonly Pick<LayerIndex, "entries">[]): MergedDirectory {
  const tree = new ImageTree();
  for (const [layer, { entries }] of layers.entries()) {
    for (const entry of entries) tree.hide(entry);
    for (const entry of entries) tree.add(entry, layer);
  }
  return tree.root;
}

class ImageTree {
  readonly root = emptyDirectory();
  #nodes = 0;

  hide(entry: LayerEntry): void {
    if (entry.kind !== "whiteout" && entry.kind !== "opaque") return;
    if (entry.kind === "opaque") {
      const found = this.#look(entry.path);
      if (found?.kind === "directory") found.children.clear();
      return;
    }
    const parent = this.#look(entry.path.slice(0, -1));
    if (parent?.kind === "directory") parent.children.delete(entry.path.at(-1) ?? "");
  }

  add(entry: LayerEntry, layer: number): void {
    switch (entry.kind) {
      case "whiteout":
      case "opaque":
        return;
      case "directory": {
        const at = this.#parent(entry.path);
        const name = entry.path.at(-1);
        const found = name === undefined ? this.root : at.children.get(name);
        const directory = found?.kind === "directory" ? found : emptyDirectory();
        directory.mode = entry.mode;
        directory.mtime = entry.mtime;
        if (name !== undefined && directory !== found) this.#put(at, name, directory);
        return;
      }
      case "file":
        return this.#putAt(entry.path, { kind: "file", layer, number: entry.number });
      case "symlink":
        return this.#putAt(entry.path, { kind: "symlink", target: entry.target });
      case "hardlink": {
        const parent = this.#look(entry.target.slice(0, -1));
        const target =
          parent?.kind === "directory" ? parent.children.get(entry.target.at(-1) ?? "") : undefined;
        if (target === undefined || target.kind === "directory")
          throw contradiction(
            entry.path,
            `it is a hard link to ${quoted(entry.target)}, which is no file`,
          );
        return this.#putAt(entry.path, target);
      }
    }
  }

  #putAt(path: readonly string[], node: MergedNode): void {
    const name = path.at(-1);
    if (name === undefined) throw contradiction(path, "the root must be a directory");
    this.#put(this.#parent(path), name, node);
  }

  #put(parent: MergedDirectory, name: string, node: MergedNode): void {
    if (++this.#nodes > mostNodes)
      throw new Fault("invalid_argument", `the image has more than ${mostNodes} entries`);
    parent.children.set(name, node);
  }

  /** Returns the directory that contains a path. Creates missing directories, as Docker does. */
  #parent(path: readonly string[]): MergedDirectory {
    const found = this.#follow(path.slice(0, -1), true);
    if (found?.kind === "directory") return found;
    throw contradiction(path, "a file is above it");
  }

  /** Returns what is at a path, after following links; undefined if there is nothing. */
  #look(path: readonly string[]): MergedNode | undefined {
    return this.#follow(path, false);
  }

  #follow(path: readonly string[], creates: boolean): MergedNode | undefined {
    const stack: MergedDirectory[] = [this.root];
    const todo = path.toReversed();
    let links = 0;
    while (todo.length > 0) {
      const name = todo.pop() as string;
      const at = stack.at(-1) as MergedDirectory;
      if (name === "..") {
        // The root is its own parent, as in every root file system.
        if (stack.length > 1) stack.pop();
        continue;
      }
      let next = at.children.get(name);
      if (next === undefined) {
        if (!creates) return undefined;
        next = emptyDirectory();
        this.#put(at, name, next);
      }
      if (next.kind === "symlink") {
        if (++links > mostLinks) throw contradiction(path, "its links have no end");
        const { target } = next;
        if (target.startsWith("/")) stack.length = 1;
        todo.push(
          ...target
            .split("/")
            .filter((part) => part !== "" && part !== ".")
            .toReversed(),
        );
        if (todo.length > 4_096) throw contradiction(path, "its links are too long");
        continue;
      }
      if (next.kind !== "directory") return todo.length === 0 ? next : undefined;
      stack.push(next);
    }
    return stack.at(-1);
  }
}

/** Returns what is at an absolute path of a merged tree, without following links. */
export function nodeAt(root: MergedDirectory, path: string): MergedNode | undefined {
  let node: MergedNode | undefined = root;
  for (const name of componentsOf(path)) {
    node = node?.kind === "directory" ? node.children.get(name) : undefined;
  }
  return node;
}

/** Makes an absolute path a directory, or the given node; what is in the way, also a link, is replaced. */
export function force(
  root: MergedDirectory,
  path: string,
  node: MergedNode = emptyDirectory(),
): void {
  const names = componentsOf(path);
  let at = root;
  for (const [index, name] of names.entries()) {
    const found = at.children.get(name);
    const isLast = index === names.length - 1;
    if (isLast && node.kind !== "directory") {
      at.children.set(name, node);
      return;
    }
    const directory = found?.kind === "directory" ? found : isLast ? node : emptyDirectory();
    if (directory !== found) at.children.set(name, directory);
    if (directory.kind !== "directory") return;
    at = directory;
  }
}

function contradiction(path: readonly string[], why: string): Fault {
  return new Fault("invalid_argument", `a layer of the image has ${quoted(path)}: ${why}`);
}

function quoted(path: readonly string[]): string {
  const text = `/${path.join("/")}`;
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
