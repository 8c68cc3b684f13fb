/** The refs of a repository, as `git ls-remote --symref` lists them. */
export interface RemoteRefs {
  /** Full name → id; for an annotated tag, the id of the tagged object. Includes HEAD. */
  readonly byName: ReadonlyMap<string, string>;
  /** The branch of HEAD, as a full name; undefined when it is detached. */
  readonly head: string | undefined;
}

export function parseRemoteRefs(text: string): RemoteRefs {
  const byName = new Map<string, string>();
  let head: string | undefined;
  for (const line of text.split("\n")) {
    const [id, name] = line.split("\t");
    if (id === undefined || name === undefined) continue;
    if (id.startsWith("ref: ")) {
      if (name === "HEAD") head = id.slice("ref: ".length);
    } else {
      // `v1^{}` follows `v1` and is the tagged commit.
      byName.set(name.replace(/\^\{\}$/, ""), id);
    }
  }
  return { byName, head };
}
