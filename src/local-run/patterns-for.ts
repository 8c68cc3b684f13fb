/** From this number of files with one extension, a pattern is used. */
const worthPattern = 3;

/**
 * Returns few patterns that match exactly these of all files: a directory if all its files are chosen, `*.ts` if all
 * files of a directory with that extension are, otherwise the files themselves.
 */
export function patternsFor(chosen: readonly string[], all: readonly string[]): string[] {
  const wanted = new Set(chosen);
  return [...patternsIn(folderOf(all), "", wanted)];
}

/** Returns a pattern that matches only this path. */
function literal(path: string): string {
  return path.replace(/[*?[\]{}\\]/g, "\\$&").replace(/^!/, "\\!");
}

interface Folder {
  readonly files: string[];
  readonly folders: Map<string, Folder>;
  count: number;
}

function folderOf(paths: readonly string[]): Folder {
  const top: Folder = { files: [], folders: new Map(), count: 0 };
  for (const path of paths) {
    const names = path.split("/");
    const file = names.pop() ?? "";
    let at = top;
    at.count++;
    for (const name of names) {
      const next = at.folders.get(name) ?? { files: [], folders: new Map(), count: 0 };
      at.folders.set(name, next);
      at = next;
      at.count++;
    }
    at.files.push(file);
  }
  return top;
}

function* patternsIn(
  folder: Folder,
  path: string,
  wanted: ReadonlySet<string>,
): Generator<string, void, undefined> {
  const at = (name: string) => (path === "" ? name : `${path}/${name}`);
  if (path !== "" && folder.count > 1 && isWhole(folder, path, wanted)) {
    yield literal(path);
    return;
  }
  const byEnding = new Map<string, string[]>();
  for (const name of folder.files) {
    const ending = /(?<=.)\.[A-Za-z0-9]+$/.exec(name)?.[0] ?? "";
    byEnding.set(ending, [...(byEnding.get(ending) ?? []), name]);
  }
  for (const [ending, names] of byEnding) {
    const meant = names.filter((name) => wanted.has(at(name)));
    if (ending !== "" && meant.length >= worthPattern && meant.length === names.length)
      yield `${path === "" ? "" : `${literal(path)}/`}*${ending}`;
    else yield* meant.map((name) => literal(at(name)));
  }
  for (const [name, below] of folder.folders) yield* patternsIn(below, at(name), wanted);
}

function isWhole(folder: Folder, path: string, wanted: ReadonlySet<string>): boolean {
  return (
    folder.files.every((name) => wanted.has(`${path}/${name}`)) &&
    [...folder.folders].every(([name, below]) => isWhole(below, `${path}/${name}`, wanted))
  );
}
