/** Lines in which programs report a missing file. */
const complaint =
  /no such|not found|cannot|can't|could ?n[o']t|missing|unable|enoent|does ?n[o']t exist|failed|error/i;

/** A name that matches more files than this is ambiguous. */
const mostMeant = 5;

/**
 * Returns the paths of a checkout that a log names, because a failing job reports missing files. `absent` are the files
 * that the job did not get; a directory of such files counts as named by its path.
 */
export function pathsNamed(log: string, absent: readonly string[]): string[] {
  const places = new Map<string, string[]>();
  const add = (key: string, path: string) => {
    const there = places.get(key) ?? [];
    if (!there.includes(path)) there.push(path);
    places.set(key, there);
  };
  for (const path of absent) {
    const names = path.split("/");
    for (let length = 1; length <= names.length; length++)
      add(names.slice(0, length).join("/"), names.slice(0, length).join("/"));
    // A relative name is recognised by its end: `../bin/tool` may be `bin/tool`.
    for (let from = 1; from < names.length; from++) add(`../${names.slice(from).join("/")}`, path);
    if (names.length > 1) add(`../${path}`, path);
  }
  const named = new Set<string>();
  const complaints = log.split("\n").filter((line) => complaint.test(line));
  for (const word of complaints.join("\n").split(/[\s'"`:;,()<>[\]{}=]+/)) {
    const plain = word
      .replace(/^\/grange\/work\//, "")
      .replace(/^(\.\/)+/, "")
      .replace(/[./]+$/, "");
    if (plain === "") continue;
    const key = plain.startsWith("../") ? `../${plain.replace(/^(\.\.\/)+/, "")}` : plain;
    const meant = places.get(key) ?? [];
    if (meant.length > 0 && meant.length <= mostMeant) for (const path of meant) named.add(path);
  }
  return [...named].toSorted();
}
