import { existsSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cpusFor } from "../limits/choose-cpus.ts";
import type { ImageProvider, ViewStep } from "./image-provider.ts";

export interface HostImageSettings {
  readonly dataDir: string;
  readonly path: string;
  readonly homeDir: string;
  readonly shownPaths: readonly string[];
  readonly hiddenPaths: readonly string[];
  /** A slot's CPUs; absent: all of the machine's. */
  readonly cpus?: number | undefined;
}

/** The programs of the worker's own machine as the root file system of jobs. */
export function hostImage(settings: HostImageSettings): ImageProvider {
  return {
    async rootFileSystem(runDir) {
      const { cpus, dataDir } = settings;
      const etc = join(runDir, "etc");
      await mkdir(etc, { recursive: true });
      const files = standInFiles(etc, cpus === undefined ? undefined : cpusFor(cpus));
      for (const { path, text } of files) await writeFile(path, text);
      const standIns = Object.fromEntries(files.map(({ name, path }) => [name, path]));
      return hostView({ ...settings, hiddenPaths: [...settings.hiddenPaths, dataDir], standIns });
    },
  };
}

interface HostViewSettings {
  readonly path: string;
  readonly homeDir: string;
  /** Directories and files, in addition to those of programs and their settings. */
  readonly shownPaths: readonly string[];
  /** Directories and files to hide, also inside shown directories. */
  readonly hiddenPaths: readonly string[];
  /** Files that replace the host's files, by their path in the sandbox. */
  readonly standIns: Readonly<Record<string, string>>;
}

/**
 * The directories with programs and their settings, on every distribution. It lists the visible ones, because
 * administrators may mount any other directory at the top.
 */
const shownAlways = new Set(["usr", "bin", "sbin", "etc", "opt", "sys", "nix", "gnu"]);

const isShownAlways = (name: string) => shownAlways.has(name) || /^lib(32|64|x32)?$/.test(name);

/** Visible, but empty. */
const alwaysEmpty = ["/home", "/root", "/run", "/var/tmp"];

/**
 * Returns the parts of this host that a job may read: programs and their settings, and configured paths; but no home
 * directory, no sockets, and none of the farm's data.
 */
export function hostView(settings: HostViewSettings): ViewStep[] {
  const { path, homeDir, shownPaths, hiddenPaths, standIns } = settings;
  const tops = readdirSync("/", { withFileTypes: true })
    .filter(({ name }) => isShownAlways(name))
    .flatMap((entry): ViewStep[] => {
      const at = `/${entry.name}`;
      if (entry.isSymbolicLink()) return [{ kind: "link", path: at, target: readlinkSync(at) }];
      return entry.isDirectory() ? [{ kind: "show", path: at, from: at }] : [];
    });
  const shown = [...tops.map((step) => step.path), ...shownPaths];
  const hidden = [...alwaysEmpty, homeDir, ...hiddenPaths];
  const tools = toolsIn(hidden, path.split(":"), process.execPath, shown).filter((at) =>
    existsSync(at),
  );
  return [
    ...tops,
    ...hidingSteps(alwaysEmpty),
    ...shownPaths.map((at): ViewStep => ({ kind: "show", path: at, from: at })),
    ...hidingSteps([homeDir, ...hiddenPaths].filter((at) => isWithin(shown, at))),
    ...tools.map((at): ViewStep => ({ kind: "show", path: at, from: at })),
    // A directory of tools may contain a farm's data, too.
    ...hidingSteps(hiddenPaths.filter((at) => isWithin(tools, at))),
    ...nameServers(),
    ...Object.entries(standIns)
      .filter(([at]) => existsSync(at))
      .map(([at, from]): ViewStep => ({ kind: "show", path: at, from })),
  ];
}

function isWithin(directories: readonly string[], at: string): boolean {
  return directories.some((directory) => at === directory || at.startsWith(`${directory}/`));
}

/** The sandbox creates these; the host's content is not visible there. */
const madeAnew: ReadonlySet<string> = new Set(["proc", "dev", "tmp", "grange"]);

/** Returns steps that replace directories and files with empty ones. */
export function hidingSteps(hidden: readonly string[]): ViewStep[] {
  const there = [...new Set(hidden)].filter((at) => at !== "/" && existsSync(at));
  const folders = there.filter((at) => statSync(at).isDirectory());
  const isBelow = (at: string) => folders.some((folder) => at.startsWith(`${folder}/`));
  const isMadeAnew = (at: string) => madeAnew.has(at.split("/")[1] ?? "");
  const files = there.filter((at) => !folders.includes(at) && !isBelow(at) && !isMadeAnew(at));
  return [
    ...folders.map((path): ViewStep => ({ kind: "empty", path })),
    ...files.map((path): ViewStep => ({ kind: "show", path, from: "/dev/null" })),
  ];
}

/** Directories in a home directory that contain more than programs: keys, tokens, caches. */
const mixedDirectories = new Set([".local", ".cargo", ".config", ".npm"]);

/**
 * Finds directories of programs that are hidden or unlisted, such as a Node under ~/.nvm.
 *
 * For a `bin`, its parent directory is shown, too, because it contains the libraries; except when the parent is a home
 * directory, a directory with secrets, or at the top of the host.
 */
export function toolsIn(
  hidden: readonly string[],
  searchPath: readonly string[],
  node: string,
  shown: readonly string[],
): string[] {
  const isHidden = (at: string) =>
    at.startsWith("/") && (!isWithin(shown, at) || hidden.some((top) => at.startsWith(`${top}/`)));
  const prefixes = [...searchPath, dirname(node)].filter(isHidden).map((directory) => {
    const parent = dirname(directory);
    const isHome =
      hidden.includes(parent) || ["/home", "/"].includes(dirname(parent)) || parent === "/";
    return isHome || mixedDirectories.has(basename(parent)) ? directory : parent;
  });
  const all = [...new Set(prefixes)];
  // An inner directory that is mounted first would be covered by the outer one, and could no longer be made read-only.
  return all.filter((at) => !all.some((other) => at.startsWith(`${other}/`)));
}

/** /etc/resolv.conf is often a symlink into /run, which is not shown. */
function nameServers(): ViewStep[] {
  try {
    const real = realpathSync("/etc/resolv.conf");
    const isElsewhere = real.startsWith("/run/") && statSync(real).isFile();
    return isElsewhere ? [{ kind: "show", path: real, from: real }] : [];
  } catch {
    return [];
  }
}

/**
 * The users as a job sees them, the same on every machine; and the list of online CPUs, when the job does not have all
 * of them: Python's `os.cpu_count()` and glibc's `get_nprocs()` read the online CPUs, not those of the process.
 */
function standInFiles(
  directory: string,
  cpus?: number,
): { name: string; path: string; text: string }[] {
  return [
    ...(cpus === undefined
      ? []
      : [
          {
            name: "/sys/devices/system/cpu/online",
            path: join(directory, "cpus-online"),
            text: cpus === 1 ? "0\n" : `0-${cpus - 1}\n`,
          },
        ]),
    {
      name: "/etc/passwd",
      path: join(directory, "passwd"),
      text: [
        "root:x:0:0:root:/root:/bin/sh",
        "grange:x:1000:1000:grange:/grange/home:/bin/sh",
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/false",
        "",
      ].join("\n"),
    },
    {
      name: "/etc/group",
      path: join(directory, "group"),
      text: "root:x:0:\ngrange:x:1000:\nnogroup:x:65534:\n",
    },
  ];
}
