import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "#machine/owner.ts";

/**
 * Files that keep parts of a store from eviction while a process uses them: `NAME~OWNER` in one directory that several
 * workers share. The mark of a process that has ended does not count.
 *
 * A user marks a part before it checks that the part exists; eviction moves the part away before it checks for marks.
 * So one of both sees the other.
 */
export class InUseMarks {
  readonly #directory: string;
  readonly #owner: string;
  /** The users of each part in this process. The mark of a part without users stays until `removeIdle`. */
  readonly #users = new Map<string, number>();
  /** The parts whose mark is on the disk. */
  readonly #marked = new Set<string>();

  constructor(directory: string, owner: string) {
    this.#directory = directory;
    this.#owner = owner;
  }

  async mark(name: string): Promise<void> {
    this.#users.set(name, (this.#users.get(name) ?? 0) + 1);
    if (this.#marked.has(name)) return;
    await writeFile(this.#path(name), "");
    this.#marked.add(name);
  }

  unmark(name: string): void {
    this.#users.set(name, Math.max(0, (this.#users.get(name) ?? 1) - 1));
  }

  /** Adds a user to a part that has one, whose mark is on the disk; returns false when nobody uses it. */
  retain(name: string): boolean {
    const users = this.#users.get(name) ?? 0;
    if (users > 0) this.#users.set(name, users + 1);
    return users > 0;
  }

  /** Removes the marks of this process that nobody needs. */
  async removeIdle(): Promise<void> {
    for (const [name, users] of this.#users) {
      if (users > 0) continue;
      this.#users.delete(name);
      this.#marked.delete(name);
      await rm(this.#path(name), { force: true });
      // A user that came meanwhile has written its mark before or after; write it again.
      if (this.#users.has(name)) await writeFile(this.#path(name), "");
    }
  }

  /** Returns the parts that a living process uses, and removes the marks of others. */
  async names(): Promise<Set<string>> {
    const inUse = new Set<string>();
    for (const mark of await readdir(this.#directory)) {
      const [name = "", owner = ""] = mark.split("~");
      if (isAlive(owner)) inUse.add(name);
      else await rm(join(this.#directory, mark), { force: true });
    }
    return inUse;
  }

  #path(name: string): string {
    return join(this.#directory, `${name}~${this.#owner}`);
  }
}
