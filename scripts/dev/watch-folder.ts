import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";

/** What happened to a file; the name that Vite and its plugins give the event. */
export type FileEvent = "add" | "change" | "unlink";

/**
 * Calls `onEvent` for each file below a folder that is added, written or removed.
 *
 * Watching is active when it returns. Vite's own watcher first reads the existing files, which takes seconds on a busy
 * machine, and it misses changes meanwhile.
 */
export function watchFolder(
  folder: string,
  onEvent: (path: string, event: FileEvent) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  const files = new Set<string>();
  const follow = (directory: string) => {
    if (watchers.has(directory)) return;
    const watcher = watch(directory, (_event, name) => {
      if (name === null) return;
      const path = join(directory, name);
      const kind = kindOf(path);
      if (kind === "directory") follow(path);
      else if (kind === "file") {
        onEvent(path, files.has(path) ? "change" : "add");
        files.add(path);
      } else if (files.delete(path)) onEvent(path, "unlink");
    });
    // A directory that is removed ends its watcher.
    watcher.on("error", () => watchers.delete(directory));
    watchers.set(directory, watcher);
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) follow(path);
      else files.add(path);
    }
  };
  follow(folder);
  return () => {
    for (const watcher of watchers.values()) watcher.close();
  };
}

function kindOf(path: string): "file" | "directory" | "missing" {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "missing" : found.isDirectory() ? "directory" : "file";
}
