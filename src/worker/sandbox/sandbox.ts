/** One process to run apart from the rest of the machine. */
export interface SandboxedCommand {
  readonly arguments: readonly string[];
  /** The complete environment of the process. */
  readonly environment: ReadonlyMap<string, string>;
  /** The job's tree on the host, and where in it the process starts. */
  readonly root: string;
  readonly workingDirectory: string;
  /** Empty directories of this job alone. */
  readonly temp: string;
  readonly home: string;
  readonly network: boolean;
  /** A directory of the host that the process may read under `secretsPlace`. */
  readonly secrets?: string | undefined;
}

/**
 * Where a job's /proc comes from: its own, which shows its processes alone, or the worker's, where the
 * kernel grants no other (as in a container that hides a part of it).
 */
export type ProcKind = "own" | "shared";

/** The parts of /proc that change the whole machine when root writes to them: read-only for jobs. */
export const kernelSettings = ["sys", "irq", "bus", "fs", "sysrq-trigger"] as const;

/** A way to keep jobs from the machine and from each other. */
export interface Sandbox {
  /** The name of its kind in the registry (`sandbox-kinds.ts`). */
  readonly kind: string;
  /** Whether it keeps jobs from the machine and from each other, as all but `none` do. */
  readonly isolates: boolean;
  /** The paths of the process's tree, home and directory for temporary files. */
  placesOf(command: Pick<SandboxedCommand, "root" | "temp" | "home">): Places;
  /** The command line that runs the process in the sandbox. */
  commandLine(command: SandboxedCommand): string[];
  /**
   * The command line of a shell in the sandbox, without network, that waits on stdin for a script;
   * absent where that cannot be.
   */
  waiting?(places: Places): string[];
  /** Whether the processes are in a pid namespace, whose end is the end of all of them. */
  readonly ownPids: boolean;
}

export interface Places {
  readonly root: string;
  readonly home: string;
  readonly temp: string;
}

/** The same on every machine, because compilers write paths into their output. No host has anything under /grange. */
export const fixedPlaces: Places = { root: "/grange/work", home: "/grange/home", temp: "/tmp" };

/** Beside the tree, not in it: nothing that takes a tree along takes secrets with it. */
export const secretsPlace = "/grange/secrets";

/**
 * The command line that runs a command with exactly an environment, and nothing besides.
 *
 * `env` looks a bare name up in that environment's PATH, and exits with 127 when there is none, as shells
 * do. A shell in its place would export variables of its own: `PWD`, and with bash `_` and `SHLVL`.
 */
export function withExactEnvironment(
  argv: readonly string[],
  environment: ReadonlyMap<string, string>,
): string[] {
  const variables = [...environment].map(([name, value]) => `${name}=${value}`);
  return ["/usr/bin/env", "-i", "--", ...variables, ...notAVariable(argv)];
}

/** `env` takes a program whose name contains `=` for a variable; a shell does not. */
function notAVariable(argv: readonly string[]): readonly string[] {
  return argv[0]?.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv] : argv;
}
