import { readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { quoteForShell } from "../quote-for-shell.ts";

/** The groups of this process: for each controller of v1 its directory, and the directory of v2. */
export interface CgroupMounts {
  /** By controller, such as `memory`. */
  readonly v1: ReadonlyMap<string, string>;
  readonly v2: string | undefined;
}

export function findCgroups(): CgroupMounts {
  try {
    return parseCgroups(
      readFileSync("/proc/self/mountinfo", "utf8"),
      readFileSync("/proc/self/cgroup", "utf8"),
    );
  } catch {
    return { v1: new Map(), v2: undefined };
  }
}

/** Parses the texts of /proc/self/mountinfo and /proc/self/cgroup. */
export function parseCgroups(mountInfo: string, own: string): CgroupMounts {
  const ownPaths = new Map<string, string>();
  for (const line of own.split("\n")) {
    const [, controllers = "", path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    for (const controller of controllers.split(",")) ownPaths.set(controller, path);
  }
  const v1 = new Map<string, string>();
  let v2: string | undefined;
  for (const line of mountInfo.split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = ""] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (type === "cgroup2") v2 = below(mountPoint, root, ownPaths.get("") ?? "/");
    if (type !== "cgroup") continue;
    for (const option of options.split(",")) {
      const path = ownPaths.get(option);
      if (path !== undefined) v1.set(option, below(mountPoint, root, path));
    }
  }
  return { v1, v2 };
}

/**
 * Returns the path of a group below a mount point; in a container, the mount may contain only a part of the hierarchy,
 * with that part's root in its entry.
 */
function below(mountPoint: string, root: string, path: string): string {
  const shown = root !== "/" && path.startsWith(root) ? path.slice(root.length) : path;
  return shown === "/" || shown.startsWith("/..") ? mountPoint : join(mountPoint, shown);
}

/** A shell that joins the groups itself before it becomes the command, so that the command is never outside of them. */
export function inCgroups(directories: readonly string[], argv: readonly string[]): string[] {
  const join = directories.map((directory) => `echo 0 >${quoteForShell(directory)}/cgroup.procs`);
  return [
    "sh",
    "-c",
    `${endFirstWhenOutOfMemory}; ${join.join(" && ")} && exec "$@"`,
    "sh",
    ...argv,
  ];
}

/** If the machine itself runs out of memory, the kernel ends jobs before the farm's processes. */
export const endFirstWhenOutOfMemory = "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :";

/**
 * Returns the text of a file of a virtual file system; empty when the file does not exist.
 *
 * Read synchronously: it takes about 20 µs, while a call in the thread pool takes milliseconds on a busy machine, and
 * the end of each job would wait for several calls.
 */
export function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch {
    // Not every kernel has this file; in that case another method is used.
  }
}

export async function pidsIn(cgroup: string): Promise<number[]> {
  return knownPids(cgroup) ?? [];
}

/** Returns the processes of a group, none when it does not exist; undefined when they cannot be read now. */
function knownPids(cgroup: string): number[] | undefined {
  try {
    const text = readFileSync(join(cgroup, "cgroup.procs"), "utf8");
    return text.split("\n").filter(Boolean).map(Number);
  } catch (reason) {
    const code = reason instanceof Error && "code" in reason ? reason.code : undefined;
    // A group that is removed while its file is read gives ENODEV.
    return code === "EMFILE" || code === "ENFILE" || code === "ENOMEM" ? undefined : [];
  }
}

export function numberIn(file: string): number {
  return Number(textIn(file).trim()) || 0;
}

/** Returns the value of a key in a file of `key value` lines; 0 when the key does not exist. */
export function valueIn(file: string, key: string): number {
  const text = textIn(file);
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${key} `));
  return Number(line?.slice(key.length + 1)) || 0;
}

/** Returns all values of a file of `key value` lines. */
export function valuesIn(file: string): ReadonlyMap<string, number> {
  const text = textIn(file);
  return new Map(
    text.split("\n").map((line): [string, number] => {
      const [key = "", value] = line.split(" ");
      return [key, Number(value) || 0];
    }),
  );
}

/** Sums a key over all devices of an `io.stat`: `8:0 rbytes=1 wbytes=2 …`. */
export function sumOfDevices(file: string, key: string): number {
  const text = textIn(file);
  return [...text.matchAll(new RegExp(`\\b${key}=(\\d+)`, "g"))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
}

/** A sandbox reports its end some 0.2 ms before the last of its processes has ended; a timer takes over 1 ms. */
const soonMs = 0.5;
/**
 * `cgroup.kill` ends all processes at once, but may take 10 ms of the worker's time: it is used only for groups that
 * continue to fork.
 */
const roundsWithoutIt = 3;

/**
 * Kills until the group is empty.
 *
 * A process may fork while the list is read, so the list is read again until it is empty. A list that cannot be read,
 * such as without a free file handle, is not an empty one.
 */
export async function killAllIn(cgroup: string, killFile: string | undefined): Promise<void> {
  const begun = performance.now();
  for (let round = 0; round < 200; ) {
    const pids = knownPids(cgroup);
    if (pids?.length === 0) return;
    for (const pid of pids ?? []) killQuietly(pid);
    if (performance.now() - begun < soonMs) {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    if (round === roundsWithoutIt && killFile) write(killFile, "1");
    await rest(Math.max(1, Math.min(50, round - roundsWithoutIt)));
    round++;
  }
}

export function killQuietly(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

/**
 * The kernel may still be cleaning up the last process; until then it returns EBUSY.
 *
 * Synchronously: the kernel makes or removes a group in some 30 µs and waits for no disk. In the thread pool it costs three
 * times as much CPU, and an action has up to four groups.
 */
export async function removeCgroup(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      rmdirSync(directory);
      return;
    } catch (reason) {
      if (reason instanceof Error && "code" in reason && reason.code === "ENOENT") return;
      await rest(2 + attempt);
    }
  }
}

export async function groupsIn(directory: string, prefix: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(directory, name));
}
