import { Fault } from "#core/fault.ts";

/** The length of one name, in UTF-8 bytes: the limit of Linux file systems. */
const maxNameBytes = 255;

/**
 * The length of a path, in UTF-8 bytes: half of Linux's limit; the rest is for the directory in which the tree is
 * placed.
 */
const maxPathBytes = 2_048;

/** The length of a symlink's target, in UTF-8 bytes: Linux's PATH_MAX without its NUL. */
const maxTargetBytes = 4_095;

/**
 * Returns the problem of a name in a directory; undefined when it is legal.
 *
 * A backslash is refused, because it is a separator on Windows and a letter elsewhere, and a tree must mean the same on
 * every worker.
 */
export function problemOfName(name: string): string | undefined {
  if (name === "") return "has an empty name";
  if (name === "." || name === "..") return `has the name "${name}"`;
  if (name.includes("/")) return "has a slash in a name";
  if (Buffer.byteLength(name) > maxNameBytes) return `has a name longer than ${maxNameBytes} bytes`;
  return problemOfText(name);
}

/** Returns the problem of a path below a root, such as `src/a.ts`; undefined when it is legal. */
export function problemOfPath(path: string): string | undefined {
  if (path.startsWith("/")) return "is absolute";
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const name of path.split("/")) {
    const problem = problemOfName(name);
    if (problem) return problem;
  }
  return undefined;
}

/**
 * Returns the problem of the target of the symlink at a path; undefined when it is legal.
 *
 * An absolute target is legal: a command resolves it in its own sandbox, and nothing else follows links of a tree. In a
 * relative one, `..` may only be at the front. There it refers to the directories that contain the link, and those are real
 * directories. After a name, it would start at the target of that name, which may be another link: `up/../..` can leave
 * the root although it counts as inside.
 */
export function problemOfTarget(path: string, target: string): string | undefined {
  if (levelsAboveRoot(path, target) > 0) return "is a symlink that leads out of the root";
  return problemOfTargetAnywhere(target);
}

/** The same for a tree that is written outside of a sandbox, or that comes from a checkout: no link may leave it. */
export function problemOfContainedTarget(path: string, target: string): string | undefined {
  return target.startsWith("/")
    ? "is a symlink to an absolute path"
    : problemOfTarget(path, target);
}

/** Returns how many directories above the root a legal target of the symlink at a path leads; 0 when it stays below. */
export function levelsAboveRoot(path: string, target: string): number {
  if (target.startsWith("/")) return 0;
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const firstName = names.findIndex((name) => name !== "..");
  const climbs = firstName === -1 ? names.length : firstName;
  return Math.max(0, climbs - (path.split("/").length - 1));
}

/**
 * Returns the problem of a symlink's target regardless of the place of the link; undefined when it is legal in a
 * directory deep enough.
 */
export function problemOfTargetAnywhere(target: string): string | undefined {
  if (target === "") return "is a symlink with an empty target";
  if (Buffer.byteLength(target) > maxTargetBytes) {
    return `is a symlink to a path longer than ${maxTargetBytes} bytes`;
  }
  if (!target.startsWith("/") && climbsAfterName(target))
    return 'is a symlink whose target has ".." after a name';
  const problem = problemOfText(target);
  return problem && `is a symlink whose target ${problem}`;
}

function climbsAfterName(target: string): boolean {
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const firstName = names.findIndex((name) => name !== "..");
  return firstName !== -1 && names.slice(firstName).includes("..");
}

/** Joins a directory and a path; either may be the root, "". */
export function joined(at: string, below: string): string {
  return at === "" || below === "" ? at + below : `${at}/${below}`;
}

export function assertLegalPath(path: string): void {
  refuse(path, problemOfPath(path));
}

export function assertLegalSymlink(path: string, target: string): void {
  refuse(path, problemOfPath(path) ?? problemOfTarget(path, target));
}

export function assertContainedSymlink(path: string, target: string): void {
  refuse(path, problemOfPath(path) ?? problemOfContainedTarget(path, target));
}

/** Throws `invalid_argument` for a path with a problem. */
export function refuse(path: string, problem: string | undefined): void {
  if (problem !== undefined) {
    throw new Fault("invalid_argument", `${quotePath(path)} ${problem}`);
  }
}

/** Returns a path for a message: without control characters, and truncated. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

function problemOfText(text: string): string | undefined {
  if (text.includes("\0")) return "has a NUL";
  if (text.includes("\\")) return "has a backslash";
  // A lone surrogate has no UTF-8 encoding, and would become a different name on the wire.
  if (/\p{Surrogate}/u.test(text)) return "is not valid Unicode";
  return undefined;
}
