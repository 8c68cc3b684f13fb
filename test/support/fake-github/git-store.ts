import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import type { FakeFiles } from "./fake-github.ts";

/**
 * A bare Git repository, written object by object.
 *
 * It starts no process for each commit, since an experiment makes thousands of pushes. The files of
 * each commit are in memory, too, in a flat list.
 */
export interface GitStore {
  readonly path: string;
  readonly refs: ReadonlyMap<string, string>;
  commit(options: {
    readonly parents: readonly string[];
    /** The commit whose files are changed. */
    readonly from: string | undefined;
    readonly files: FakeFiles;
    readonly subject: string;
    readonly by: string;
    readonly at: Date;
  }): Promise<string>;
  /** Returns the differences from one commit to another. */
  changes(from: string | undefined, to: string): FakeFiles;
  isAncestor(ancestor: string, of: string): boolean;
  /**
   * Returns the last commit among the first parents of one that is also an ancestor of the other.
   */
  forkPoint(of: string, from: string): string | undefined;
  has(sha: string): boolean;
  setRef(ref: string, sha: string | undefined): Promise<void>;
  annotatedTag(name: string, sha: string, at: Date): Promise<string>;
}

interface Commit {
  readonly files: ReadonlyMap<string, string>;
  readonly parents: readonly string[];
}

export async function gitStore(path: string): Promise<GitStore> {
  const refs = new Map<string, string>();
  const commits = new Map<string, Commit>();
  const texts = new Map<string, string>();
  const written = new Set<string>();
  let temporary = 0;

  await mkdir(join(path, "objects"), { recursive: true });
  await mkdir(join(path, "refs/heads"), { recursive: true });
  await writeFile(join(path, "HEAD"), "ref: refs/heads/main\n");
  await writeFile(
    join(path, "config"),
    "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n",
  );

  const put = async (kind: string, body: Buffer): Promise<string> => {
    const whole = Buffer.concat([Buffer.from(`${kind} ${body.length}\0`), body]);
    const sha = createHash("sha1").update(whole).digest("hex");
    if (written.has(sha)) return sha;
    const file = join(path, "objects", sha.slice(0, 2), sha.slice(2));
    await mkdir(dirname(file), { recursive: true });
    await replace(file, deflateSync(whole, { level: 1 }));
    written.add(sha);
    return sha;
  };
  const replace = async (file: string, content: string | Buffer) => {
    const beside = `${file}.tmp${temporary++}`;
    await writeFile(beside, content);
    await rename(beside, file);
  };

  const putTree = async (files: ReadonlyMap<string, string>): Promise<string> => {
    const folders = new Map<string, Map<string, string>>();
    const entries: { name: string; mode: string; sha: string }[] = [];
    for (const [name, sha] of files) {
      const slash = name.indexOf("/");
      if (slash === -1) {
        entries.push({ name, mode: "100644", sha });
        continue;
      }
      const folder = folders.get(name.slice(0, slash)) ?? new Map<string, string>();
      folder.set(name.slice(slash + 1), sha);
      folders.set(name.slice(0, slash), folder);
    }
    for (const [name, inner] of folders)
      entries.push({ name, mode: "40000", sha: await putTree(inner) });
    // Git sorts directories as if their names ended with a slash.
    const keyOf = (one: { name: string; mode: string }) =>
      Buffer.from(one.mode === "40000" ? `${one.name}/` : one.name);
    entries.sort((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
    return put(
      "tree",
      Buffer.concat(
        entries.flatMap((one) => [
          Buffer.from(`${one.mode} ${one.name}\0`),
          Buffer.from(one.sha, "hex"),
        ]),
      ),
    );
  };

  const person = (name: string, at: Date) =>
    `${name} <${name.replaceAll(/[^a-z0-9-]/gi, "")}@users.example.org> ${Math.floor(at.getTime() / 1_000)} +0000`;

  const ancestors = (of: string): Set<string> => {
    const seen = new Set<string>();
    const left = [of];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      if (seen.has(one)) continue;
      seen.add(one);
      left.push(...(commits.get(one)?.parents ?? []));
    }
    return seen;
  };

  return {
    path,
    refs,
    async commit({ parents, from, files: changed, subject, by, at }) {
      const files = new Map(from === undefined ? [] : commits.get(from)?.files);
      for (const [name, text] of Object.entries(changed)) {
        if (text === null) files.delete(name);
        else {
          const sha = await put("blob", Buffer.from(text));
          texts.set(sha, text);
          files.set(name, sha);
        }
      }
      const lines = [
        `tree ${await putTree(files)}`,
        ...parents.map((parent) => `parent ${parent}`),
        `author ${person(by, at)}`,
        `committer ${person(by, at)}`,
        "",
        `${subject}\n`,
      ];
      const sha = await put("commit", Buffer.from(lines.join("\n")));
      commits.set(sha, { files, parents });
      return sha;
    },
    changes(from, to) {
      const before = from === undefined ? undefined : commits.get(from)?.files;
      const after = commits.get(to)?.files ?? new Map<string, string>();
      const changed: Record<string, string | null> = {};
      for (const [name, sha] of after)
        if (before?.get(name) !== sha) changed[name] = texts.get(sha) ?? "";
      for (const name of before?.keys() ?? []) if (!after.has(name)) changed[name] = null;
      return changed;
    },
    // A typical push is one commit on top of the last.
    isAncestor: (ancestor, of) =>
      commits.get(of)?.parents.includes(ancestor) === true || ancestors(of).has(ancestor),
    forkPoint(of, from) {
      const known = ancestors(from);
      let one: string | undefined = of;
      while (one !== undefined && !known.has(one)) one = commits.get(one)?.parents[0];
      return one;
    },
    has: (sha) => commits.has(sha),
    async setRef(ref, sha) {
      const file = join(path, ref);
      if (sha === undefined) {
        refs.delete(ref);
        await rm(file, { force: true });
        return;
      }
      refs.set(ref, sha);
      await mkdir(dirname(file), { recursive: true });
      await replace(file, `${sha}\n`);
    },
    annotatedTag: (name, sha, at) =>
      put(
        "tag",
        Buffer.from(
          `object ${sha}\ntype commit\ntag ${name}\ntagger ${person("releaser", at)}\n\n${name}\n`,
        ),
      ),
  };
}
