import { readdirSync } from "node:fs";
import { textIn } from "./cgroup-files.ts";
import { descendantsOf, type ProcessInfo, parseStat } from "./process-tree.ts";

/** Process ids are reused; by then it must be checked again whether a process id belongs to the tree. */
const forgetStrangersEveryMs = 1_000;

/**
 * Finds a process and all its descendants, repeatedly.
 *
 * It is synchronous and does not repeatedly read processes outside the tree: a check takes well below a millisecond,
 * and does not wait behind uploads in the thread pool while a tree grows.
 */
export class ProcessTreeScan {
  readonly #root: number;
  /** By pid, with its start time; includes processes whose parents have ended. */
  readonly #seen = new Map<number, string>();
  #strangers = new Set<number>();
  #forgotAt = performance.now();

  constructor(root: number) {
    this.#root = root;
  }

  /** All processes that were ever found; some may have ended. */
  get seen(): ReadonlyMap<number, string> {
    return this.#seen;
  }

  look(): ProcessInfo[] {
    if (performance.now() - this.#forgotAt > forgetStrangersEveryMs) {
      this.#strangers = new Set();
      this.#forgotAt = performance.now();
    }
    const read: ProcessInfo[] = [];
    for (const name of namesInProc()) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || this.#strangers.has(pid)) continue;
      const info = parseStat(textIn(`/proc/${pid}/stat`));
      if (info !== undefined) read.push(info);
    }
    const tree = this.#treeIn(read);
    const members = new Set(tree.map(({ pid }) => pid));
    for (const { pid } of read) if (!members.has(pid)) this.#strangers.add(pid);
    for (const { pid, startTime } of tree) this.#seen.set(pid, startTime);
    return tree;
  }

  /** Returns the processes of the tree; those that left it are recognised because they were in it before. */
  #treeIn(read: readonly ProcessInfo[]): ProcessInfo[] {
    const left = read.filter(({ pid, startTime }) => this.#seen.get(pid) === startTime);
    const roots = new Set([this.#root, ...left.map(({ pid }) => pid)]);
    const found = new Map<number, ProcessInfo>();
    for (const root of roots) {
      if (found.has(root)) continue;
      for (const info of descendantsOf(root, read)) found.set(info.pid, info);
    }
    return [...found.values()];
  }
}

function namesInProc(): string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}
