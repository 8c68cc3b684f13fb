import type { ViewStep } from "../image/image-provider.ts";
import type { ContainerUser } from "./container-user.ts";
import type { HostPrograms } from "./host-programs.ts";
import type { WaitingCommand } from "./waiting-command.ts";

/** One process to run, isolated from the rest of the machine. */
export interface SandboxedCommand {
  readonly arguments: readonly string[];
  /** The complete environment of the process. */
  readonly environment: ReadonlyMap<string, string>;
  /** The job's tree on the host, and the directory in it in which the process starts. */
  readonly root: string;
  readonly workingDirectory: string;
  /** Empty directories that only this job uses. */
  readonly temp: string;
  readonly home: string;
  readonly network: boolean;
  /** Whether its caller runs it in a network namespace that is for this job alone; the sandbox then makes none. */
  readonly inNamespace?: boolean | undefined;
  /** What it finds at further places, mounted last; each exists in the root file system. */
  readonly binds?: readonly Bind[] | undefined;
  /** A directory of the host that the process may read under `secretsPlace`. */
  readonly secrets?: string | undefined;
  /** The root file system to run in; absent for that of the worker's machine. */
  readonly image?: ImageOfCommand | undefined;
  /** The user of a container with several users; absent for the user of jobs, who is alone. */
  readonly user?: ContainerUser | undefined;
}

/** A file or directory of the host at another path of a sandbox. */
export interface Bind {
  /** Absolute, and without links in it. */
  readonly path: string;
  readonly from: string;
  readonly writable: boolean;
}

/** The root file system of a container image. */
export interface ImageOfCommand {
  /** Its first step shows the whole root, in which everything that the sandbox mounts on exists. */
  readonly view: readonly ViewStep[];
  /** What starts a command where no program of the machine is. */
  readonly programs: HostPrograms;
}

/**
 * The source of a job's /proc: its own, which shows only its processes, or the worker's, when the kernel permits no
 * other (as in a container that hides a part of it).
 */
export type ProcKind = "own" | "shared";

/** The parts of /proc that change the whole machine when root writes to them: read-only for jobs. */
export const kernelSettings = ["sys", "irq", "bus", "fs", "sysrq-trigger"] as const;

/** Isolates jobs from the machine and from each other. */
export interface Sandbox {
  /** The name of its kind in the registry (`sandbox-kinds.ts`). */
  readonly kind: string;
  /** Whether it isolates jobs from the machine and from each other, as all but `none` do. */
  readonly isolates: boolean;
  /** Whether it can run commands in the root file system of an image. */
  readonly runsImages: boolean;
  /** Returns the paths of the process's tree, home and directory for temporary files. */
  placesOf(command: Pick<SandboxedCommand, "root" | "temp" | "home">): Places;
  /** Returns the command line that runs the process in the sandbox. */
  commandLine(command: SandboxedCommand): string[];
  /**
   * Returns the command line of a program in the sandbox, without network, that waits on stdin for a command; absent
   * when this is impossible.
   */
  waiting?(places: Places, image?: ImageOfCommand): string[];
  /** Returns a command as the waiting program reads it. */
  encodeWaiting?(command: WaitingCommand, image?: ImageOfCommand): Buffer;
  /** Absent where `starter` cannot copy its sandboxes. */
  readonly copies?: SandboxCopies | undefined;
  /** Whether the processes are in a pid namespace, whose end ends all of them. */
  readonly ownPids: boolean;
  /** Whether /proc shows the job's processes only. */
  readonly ownProc: boolean;
}

/** What is needed for copies of one sandbox on the root file system of the machine: see `native/sandbox-copy.h`. */
interface SandboxCopies {
  readonly view: readonly ViewStep[];
  /** The program that waits in a copy on stdin for a command of `encodeWaiting`. */
  readonly waiter: readonly string[];
  /** Returns the directories of a job, each with its path in a copy. */
  binds(places: Places): readonly (readonly [from: string, at: string])[];
}

export interface Places {
  readonly root: string;
  readonly home: string;
  readonly temp: string;
}

/** The same on every machine, because compilers write paths into their output. No host has files under /grange. */
export const fixedPlaces: Places = { root: "/grange/work", home: "/grange/home", temp: "/tmp" };

/** Beside the tree, not in it: a program that copies the tree does not copy the secrets. */
export const secretsPlace = "/grange/secrets";

/**
 * Returns the command line that runs a command with exactly this environment and no other variables.
 *
 * `env` looks up a bare name in that environment's PATH, and exits with 127 when there is none, as shells do. A shell
 * in its place would export its own variables: `PWD`, and with bash `_` and `SHLVL`.
 */
export function withExactEnvironment(
  argv: readonly string[],
  environment: ReadonlyMap<string, string>,
  env: readonly string[] = ["/usr/bin/env"],
): string[] {
  const variables = [...environment].map(([name, value]) => `${name}=${value}`);
  return [...env, "-i", "--", ...variables, ...notAVariable(argv)];
}

/** `env` treats a program whose name contains `=` as a variable; a shell does not. */
function notAVariable(argv: readonly string[]): readonly string[] {
  return argv[0]?.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv] : argv;
}
