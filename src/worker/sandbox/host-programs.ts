import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#core/fault.ts";
import { setpriv } from "#machine/job-owner.ts";
import type { ViewStep } from "../image/image-provider.ts";

const run = promisify(execFile);

/** The place of these programs in the root file system of an image. */
const startPlace = "/grange/start";

const programs = {
  env: "/usr/bin/env",
  setpriv,
  unshare: "/usr/bin/unshare",
  sh: "/bin/sh",
  cat: "/bin/cat",
  umount: "/bin/umount",
} as const;

export type HostProgram = keyof typeof programs;

/** Returns the path of a program on this machine. */
export function hostProgram(program: HostProgram): string {
  return programs[program];
}

/** Programs of this machine that start a command inside an image, which may have no program but its own. */
export interface HostPrograms {
  readonly view: readonly ViewStep[];
  /** Returns the beginning of a command line, with an absolute path. */
  readonly command: (program: HostProgram) => string[];
}

/**
 * Copies the programs with their libraries and the loader into one directory, so that a sandbox needs one mount for
 * them. The loader gets the directory of the libraries as an argument: those of the image are not used.
 */
export async function openHostPrograms(runDir: string, searchPath: string): Promise<HostPrograms> {
  const directory = join(runDir, "start");
  await mkdir(directory, { recursive: true });
  const loaders = new Map<HostProgram, string | undefined>();
  const copied = new Set<string>();
  const copy = async (from: string) => {
    if (copied.has(from)) return;
    copied.add(from);
    await copyFile(from, join(directory, basename(from)));
    await chmod(join(directory, basename(from)), 0o755);
  };
  for (const [name, program] of Object.entries(programs) as [HostProgram, string][]) {
    const libraries = await librariesOf(program, searchPath);
    for (const each of [program, ...libraries]) await copy(each);
    const loader = libraries.find((each) => /^ld-.*\.so/.test(basename(each)));
    loaders.set(name, loader && basename(loader));
  }
  return {
    view: [{ kind: "show", path: startPlace, from: directory }],
    command(program) {
      const at = join(startPlace, basename(programs[program]));
      const loader = loaders.get(program);
      // A static program needs no loader.
      return loader === undefined
        ? [at]
        : [join(startPlace, loader), "--library-path", startPlace, at];
    },
  };
}

/** Returns the paths of the libraries and of the loader of a program; none for a static one. */
async function librariesOf(program: string, searchPath: string): Promise<string[]> {
  try {
    const { stdout } = await run("ldd", [program], {
      env: { PATH: searchPath },
    });
    return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
  } catch (reason) {
    const isStatic = /not a dynamic executable|not a valid dynamic program/i.test(
      `${messageOf(reason)} ${String((reason as { stderr?: unknown }).stderr)}`,
    );
    if (isStatic) return [];
    throw reason;
  }
}
