import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "#machine/remove-tree.ts";

/** The folders of one run: as this process sees them, or as the command does. */
export interface RunFolders {
  readonly artifact: string;
  readonly source: string;
  readonly out: string;
  readonly state: string;
  readonly home: string;
  readonly temp: string;
}

/** The folders in which a command may write. */
export const ownFolders = ["source", "out", "state", "home", "temp"] as const;

/**
 * The folders as commands see them in a sandbox: always of the same length, because the length of a path affects
 * figures.
 */
export const foldersInside: RunFolders = {
  artifact: "/grange/artifact",
  source: "/grange/source",
  out: "/grange/out",
  state: "/grange/state",
  home: "/grange/home",
  temp: "/tmp",
};

/** Creates empty folders for one run, always at the same place. */
export async function emptyFolders(directory: string, artifact: string): Promise<RunFolders> {
  const now = join(directory, "now");
  await removeTree(now);
  const at = (name: string) => join(now, name);
  const folders = {
    artifact,
    source: at("source"),
    out: at("out"),
    state: at("state"),
    home: at("home"),
    temp: at("temp"),
  };
  for (const name of ownFolders) {
    await mkdir(folders[name], { recursive: true });
  }
  return folders;
}

/** Empties a folder in which a command has written. */
export async function emptyFolder(path: string): Promise<void> {
  await removeTree(path);
  await mkdir(path, { recursive: true });
}
