import { execFile } from "node:child_process";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { type ImageEntry, imageUser } from "./image-entry.ts";

const run = promisify(execFile);

/** What a server needs. */
const required = ["git", "sh", "env"];
/** What a worker uses for sandboxes. Programs that this machine lacks are left out, here and below. */
const sandboxPrograms =
  "bwrap ldd mount nsenter prlimit setpriv slirp4netns taskset umount unshare".split(" ");
/** What scripts of jobs, and the scripts that start them, expect of a system: GNU coreutils and some more. */
const usualPrograms = [
  "awk bash bzip2 cmp diff find grep gunzip gzip kill patch ps sed tar xargs xz zstd",
  "arch b2sum base32 base64 basename cat chgrp chmod chown cksum comm cp csplit cut date dd df dirname du echo expand",
  "expr factor false fmt fold head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl",
  "nohup nproc numfmt od paste pathchk pr printenv printf ptx pwd readlink realpath rm rmdir seq sha1sum sha224sum",
  "sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch",
  "tr true truncate tsort tty uname unexpand uniq unlink wc whoami yes",
].flatMap((line) => line.split(" "));

/**
 * Returns a root file system made of this machine's programs: Node, Git, a shell, with their libraries.
 *
 * Throws when the machine lacks a required program.
 */
export async function machineFiles(moreNames: readonly string[]): Promise<ImageEntry[]> {
  const files = new MachineFiles();
  await files.addProgram(process.execPath, "usr/bin/node");
  for (const name of [...required, ...moreNames]) {
    const program = await findProgram(name);
    if (program === undefined) throw new Error(`${name} is not on the PATH of this machine`);
    await files.addProgram(program);
  }
  for (const name of [...sandboxPrograms, ...usualPrograms]) {
    const program = await findProgram(name);
    if (program !== undefined) await files.addProgram(program);
  }
  await files.addGitHelpers();
  for (const link of ["bin", "sbin", "lib", "lib32", "lib64"]) await files.addRootLink(link);
  for (const path of ["/etc/ssl/certs/ca-certificates.crt", "/etc/os-release"])
    await files.addIfPresent(path);
  return [...files.entries(), ...settings()];
}

/** Returns files that every root file system needs, with one user besides root. */
function settings(): ImageEntry[] {
  const text = (path: string, content: string): ImageEntry => ({
    kind: "file",
    path,
    content: Buffer.from(content),
    executable: false,
  });
  return [
    text(
      "etc/passwd",
      `root:x:0:0:root:/root:/bin/sh\ngrange:x:${imageUser}:${imageUser}:Grange:/var/lib/grange:/bin/sh\n`,
    ),
    text("etc/group", `root:x:0:\ngrange:x:${imageUser}:\n`),
    text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    { kind: "directory", path: "tmp", mode: 0o1777, owner: 0 },
    { kind: "directory", path: "var/tmp", mode: 0o1777, owner: 0 },
    { kind: "directory", path: "run", mode: 0o755, owner: 0 },
    { kind: "directory", path: "proc", mode: 0o555, owner: 0 },
    { kind: "directory", path: "sys", mode: 0o555, owner: 0 },
    { kind: "directory", path: "dev", mode: 0o755, owner: 0 },
    { kind: "directory", path: "root", mode: 0o700, owner: 0 },
  ];
}

/** Collects files of this machine, each at the place that it has here. */
class MachineFiles {
  readonly #entries = new Map<string, ImageEntry>();
  /** The first path of each file, by device and inode: further hard links become symbolic links. */
  readonly #inodes = new Map<string, string>();

  entries(): ImageEntry[] {
    return [...this.#entries.values()];
  }

  /** Adds a program with the links that lead to it, and its libraries. */
  async addProgram(path: string, at?: string): Promise<void> {
    const file =
      at === undefined
        ? await this.#addWithLinks(path)
        : await this.#addFile(await realpath(path), at);
    if (file === undefined) return;
    for (const library of await librariesOf(file)) await this.#addWithLinks(library);
  }

  async addIfPresent(path: string): Promise<void> {
    if (await exists(path)) await this.#addWithLinks(path);
  }

  /** Adds a link such as /lib -> usr/lib of the root directory. */
  async addRootLink(name: string): Promise<void> {
    const found = await lstat(`/${name}`).catch(() => undefined);
    if (found?.isSymbolicLink() === true)
      this.#entries.set(name, { kind: "link", path: name, target: await readlink(`/${name}`) });
  }

  /** Adds the programs that Git starts for remotes, and its templates. */
  async addGitHelpers(): Promise<void> {
    const { stdout } = await run("git", ["--exec-path"]);
    const folder = stdout.trim();
    const names = (await readdir(folder)).filter((name) =>
      /^git(-remote-(http|https|ftp|ftps)|-upload-pack|-receive-pack|-upload-archive|-submodule|-sh-.*)?$/.test(
        name,
      ),
    );
    for (const name of names) await this.addProgram(join(folder, name));
    const templates = "/usr/share/git-core/templates";
    if (!(await exists(templates))) return;
    for (const entry of await readdir(templates, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) await this.#addWithLinks(join(entry.parentPath, entry.name));
  }

  /** Adds a path and all links that lead from it to a file. Returns the file; undefined if it was there. */
  async #addWithLinks(path: string): Promise<string | undefined> {
    const here = join(await realpath(dirname(path)), basename(path));
    const at = relative("/", here);
    if (this.#entries.has(at)) return undefined;
    const found = await lstat(here);
    if (!found.isSymbolicLink()) return this.#addFile(here, at);
    const target = await readlink(here);
    this.#entries.set(at, { kind: "link", path: at, target });
    return this.#addWithLinks(resolve(dirname(here), target));
  }

  async #addFile(from: string, at: string): Promise<string | undefined> {
    const { dev, ino, mode } = await lstat(from);
    const inode = `${dev} ${ino}`;
    const earlier = this.#inodes.get(inode);
    if (earlier !== undefined && earlier !== at) {
      this.#entries.set(at, { kind: "link", path: at, target: `/${earlier}` });
      return undefined;
    }
    this.#inodes.set(inode, at);
    this.#entries.set(at, {
      kind: "file",
      path: at,
      content: { from },
      executable: (mode & 0o111) !== 0,
    });
    return from;
  }
}

/** Returns the paths of the libraries and of the loader; none for scripts and static programs. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

async function findProgram(name: string): Promise<string | undefined> {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  for (const folder of folders.filter((each) => each.startsWith("/")))
    if (await exists(join(folder, name))) return join(folder, name);
  return undefined;
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );
