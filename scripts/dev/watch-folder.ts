import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";

/**
 * Calls `onChange` with the path of each file below a folder that is written, made or removed.
 *
 * Watching is active when it returns; Vite's own watcher first reads existing files, and misses changes meanwhile.
 */
export function watchFolder(folder: string, onChange: (path: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  const follow = (directory: string) => {
    if (watchers.has(directory)) return;
    const watcher = watch(directory, (_event, name) => {
      if (name === null) return;
      const path = join(directory, name);
      if (isDirectory(path)) follow(path);
      else onChange(path);
    });
    // A directory that is removed ends its watcher.
    watcher.on("error", () => watchers.delete(directory));
    watchers.set(directory, watcher);
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) follow(join(directory, entry.name));
    }
  };
  follow(folder);
  return () => {
    for (const watcher of watchers.values()) watcher.close();
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
