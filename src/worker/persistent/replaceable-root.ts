import { mkdirSync } from "node:fs";
import { mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HelperShell } from "../helper-shell.ts";
import type { InputRoot } from "../input-root/input-root.ts";
import { quoteForShell } from "../quote-for-shell.ts";

/**
 * The working directory of a process that serves several actions, one after another.
 *
 * It stays, so that it remains the process's current directory. What is in it are mounts of the entries of the input
 * tree of one action. Only the worker can write in the directory itself: the process sees it read-only, so it cannot
 * replace an entry on which the worker mounts.
 */
export class ReplaceableRoot {
  readonly #shell: HelperShell;
  /** The same directory, where the worker writes. */
  readonly #base: string;
  /** Where the sandbox finds it. */
  readonly path: string;
  #mounted: string[] = [];
  #names: string[] = [];

  private constructor(shell: HelperShell, scratch: string) {
    this.#shell = shell;
    this.#base = join(scratch, "base");
    this.path = join(scratch, "root");
  }

  /** Opens the root of a scratch directory, before a sandbox exists there. */
  static async open(shell: HelperShell, scratch: string): Promise<ReplaceableRoot> {
    const root = new ReplaceableRoot(shell, scratch);
    mkdirSync(root.#base, { mode: 0o755 });
    const [base, at] = [quoteForShell(root.#base), quoteForShell(root.path)];
    // A peer group of its own: what is mounted in it does not appear in `base`, too.
    await shell.run(
      `mount --bind ${base} ${at} && mount --make-private ${at} && mount --make-shared ${at} && mount -o remount,bind,ro ${at}`,
    );
    return root;
  }

  /** Shows the entries of an input tree. */
  async attach(root: InputRoot): Promise<void> {
    const mounts: string[] = [];
    for (const entry of await readdir(root.seen, { withFileTypes: true })) {
      const at = join(this.#base, entry.name);
      this.#names.push(entry.name);
      if (entry.isSymbolicLink()) await symlink(await readlink(join(root.seen, entry.name)), at);
      else {
        await (entry.isDirectory() ? mkdir(at) : writeFile(at, ""));
        mounts.push(entry.name);
      }
    }
    const script = mounts.map(
      (name) =>
        `mount --bind ${quoteForShell(join(root.path, name))} ${quoteForShell(join(this.path, name))}`,
    );
    this.#mounted = mounts;
    if (script.length > 0) await this.#shell.run(script.join(" && "));
  }

  /**
   * Hides the entries again, and makes the tree read-only also for files that the process still has open. Throws when
   * the process can still write in the tree: then it must end before anything in the tree is read.
   */
  async detach(root: InputRoot): Promise<void> {
    await this.#hide();
    for (const name of this.#names.splice(0)) await rm(join(this.#base, name), { recursive: true });
    // The kernel refuses it while a file in the tree is open for writing.
    await this.#shell.run(`mount -t overlay -o remount,ro grange ${quoteForShell(root.path)}`);
  }

  async #hide(): Promise<void> {
    const mounted = this.#mounted.splice(0).map((name) => quoteForShell(join(this.path, name)));
    if (mounted.length > 0) await this.#shell.run(`umount -l ${mounted.join(" ")}`);
  }

  /** Removes all mounts, after the end of the process. */
  async close(): Promise<void> {
    await this.#shell.run(`umount -l ${quoteForShell(this.path)}`);
  }
}
