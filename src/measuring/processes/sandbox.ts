import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { asJobOwner, giveTreeToJobs, jobOwner, jobUser } from "#machine/job-owner.ts";
import { foldersInside, ownFolders, type RunFolders } from "../folders/run-folders.ts";

/** Isolates a measured program from the machine. */
export interface Sandbox {
  readonly kind: "bubblewrap" | "none";
  /** Returns the paths at which the program sees the folders of its run. */
  readonly seen: (folders: RunFolders) => RunFolders;
  readonly commandLine: (argv: readonly string[], folders: RunFolders) => string[];
  readonly workingFolder: (folders: RunFolders) => string;
  /** Changes the owner of a file or folder, with its whole content, to the program's user. */
  readonly give: (path: string) => void;
}

/** No isolation: programs may read and change all files that their user may. */
export const noSandbox: Sandbox = {
  kind: "none",
  seen: (folders) => folders,
  commandLine: (argv) => [...argv],
  workingFolder: ({ source }) => source,
  give: () => {},
};

/**
 * The parts of /etc that programs of a system need to start. The whole directory is not included, because it contains
 * secrets that root can read.
 */
const fromEtc = [
  "alternatives",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "ssl/certs",
  "ssl/openssl.cnf",
];

/** The parent directories of the parts below. If bubblewrap created them, only root could enter them. */
const foldersAbove = [
  "/grange",
  "/etc",
  "/etc/ssl",
  "/sys",
  "/sys/devices",
  "/sys/kernel",
  "/nix",
  "/gnu",
];

/**
 * A sandbox in which programs can read the system's programs and write to the folders of the run, without network and
 * other processes. It is set up before the meter or the counter starts, so that its own work (about 5 ms) is not
 * included in the figures.
 *
 * Root creates the mounts, and then becomes the user of workers' jobs: for the kernel, root of the machine would stay
 * root in a user namespace.
 */
export function bubblewrapSandbox(proc: "own" | "shared"): Sandbox {
  const always = [
    jobOwner === undefined
      ? ["--unshare-user", "--uid", `${jobUser.uid}`, "--gid", `${jobUser.gid}`]
      : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"],
    ["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ["--unshare-pid", "--unshare-net", "--hostname", "grange", "--die-with-parent"],
    foldersAbove
      .filter((path) => existsSync(path) || path === "/grange")
      .flatMap((path) => ["--perms", "0755", "--dir", path]),
    systemFolders().flatMap(shown),
    fromEtc.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    // Runtimes read the number of CPUs and the page size.
    ["--ro-bind-try", "/sys/devices/system", "/sys/devices/system"],
    ["--ro-bind-try", "/sys/kernel/mm", "/sys/kernel/mm"],
    proc === "own" ? ["--proc", "/proc"] : ["--ro-bind", "/proc", "/proc"],
    ["--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"],
    nodeElsewhere().flatMap((path) => [
      ...foldersTo(path).flatMap((above) => ["--perms", "0755", "--dir", above]),
      "--ro-bind",
      realpathSync(path),
      path,
    ]),
  ].flat();
  return {
    kind: "bubblewrap",
    seen: () => foldersInside,
    workingFolder: () => "/",
    give: giveTreeToJobs,
    commandLine: (argv, folders) => [
      "bwrap",
      ...always,
      "--ro-bind",
      folders.artifact,
      foldersInside.artifact,
      ...ownFolders.flatMap((name) => ["--bind", folders[name], foldersInside[name]]),
      "--chdir",
      foldersInside.source,
      "--unsetenv",
      "PWD",
      "--",
      ...(jobOwner === undefined ? [] : asJobOwner(jobOwner)),
      ...argv,
    ],
  };
}

function systemFolders(): string[] {
  return [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
  ];
}

function shown(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink()
    ? ["--symlink", readlinkSync(path), path]
    : ["--ro-bind", path, path];
}

/**
 * Binds the Node that runs this process, if it is not among the system's programs, and no other files of its folder.
 */
function nodeElsewhere(): string[] {
  const inSystem = systemFolders().some((top) => process.execPath.startsWith(`${top}/`));
  return inSystem ? [] : [process.execPath];
}

/** Returns the parent folders of a path, the upper ones first. */
function foldersTo(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join("/")}`);
}

/** The search path of programs: the Node of this process first, so that its version is one fact. */
export function searchPath(): string {
  const usual = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
  return [...new Set([dirname(process.execPath), ...usual])].join(":");
}
