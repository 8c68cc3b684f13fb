import { spawn } from "node:child_process";
import { constants as fileConstants, openSync } from "node:fs";
import { constants } from "node:os";
import { Fault } from "#core/fault.ts";
import { replacementsOfInheritedFiles } from "#machine/inherited-files.ts";
import type { HelperShell } from "./helper-shell.ts";
import type { ProcessGroup } from "./limits/limits.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { FifoPool, NamedPipe, Pipe } from "./logs/fifo-pool.ts";
import type { CopiedSandbox, ProgramStarter } from "./program-starter.ts";

/** A process whose output has not been read yet. */
export interface SpawnedProcess {
  readonly pid: number | undefined;
  readonly exited: Promise<number>;
  /** Read ends of its pipes; the caller must close them. */
  readonly stdout: number;
  readonly stderr: number;
  /** The write end of its stdin, if it has one; the caller must close it. */
  readonly stdin?: number | undefined;
}

interface SpawnOptions {
  /** Whether its stdin is a pipe; else it is empty. */
  readonly withStdin?: boolean;
  /** The sandbox in a copy of which it runs. Only `starter` can copy it, for a group that processes join by files. */
  readonly copyOf?: CopiedSandbox;
  /** Throws `cancelled`, and spawns nothing, when this is aborted before the pipes exist. */
  readonly stop?: AbortSignal;
}

/** What a worker's machine has for spawning processes. */
interface SpawningMachine {
  readonly shell: HelperShell;
  /** Absent where only Node can start processes. */
  readonly starter: ProgramStarter | undefined;
}

/** Spawns the processes of jobs in the mounts of the helper shell, with pipes for their output. */
export class ProcessSpawner {
  readonly #machine: SpawningMachine;
  readonly #pipes: FifoPool;
  readonly #searchPath: string;

  constructor(machine: SpawningMachine, pipes: FifoPool, searchPath: string) {
    this.#machine = machine;
    this.#pipes = pipes;
    this.#searchPath = searchPath;
  }

  /** Spawns a command in a group. */
  async spawn(
    commandLine: readonly string[],
    group: ProcessGroup,
    options: SpawnOptions = {},
  ): Promise<SpawnedProcess> {
    const { shell, starter } = this.#machine;
    const groups = group.joinedBy;
    const [program = "", ...args] =
      groups === undefined ? group.commandLine(commandLine) : commandLine;
    const path = starter?.pathOf(program);
    if (options.copyOf !== undefined && (starter === undefined || groups === undefined))
      throw new Fault("unimplemented", "no sandbox can be copied here");
    return starter === undefined || path === undefined
      ? this.#byNode(group.commandLine([...shell.enter, ...commandLine]), options)
      : this.#byStarter(starter, { argv: [path, ...args], groups: groups ?? [] }, options);
  }

  async #byStarter(
    starter: ProgramStarter,
    what: { readonly argv: readonly string[]; readonly groups: readonly string[] },
    { withStdin = false, copyOf, stop }: SpawnOptions,
  ): Promise<SpawnedProcess> {
    const pipes: NamedPipe[] = [];
    let stdin: number | undefined;
    try {
      for (let count = withStdin ? 3 : 2; count > 0; count--)
        pipes.push(await this.#pipes.takeNamed());
      const [out, err, own] = pipes as [NamedPipe, NamedPipe, NamedPipe | undefined];
      // Open before the process reads: a pipe without a writer is at its end.
      if (own !== undefined) stdin = openSync(own.path, fileConstants.O_WRONLY);
      if (stop?.aborted === true) throw new Fault("cancelled", "it was stopped before it started");
      const { pid, exited } = await starter.start({
        ...what,
        copyOf,
        stdin: own?.path,
        stdout: out.path,
        stderr: err.path,
      });
      if (own !== undefined) closeQuietly(own.readEnd);
      const code = exited.then(exitCodeOf);
      // The caller that runs it gets the error.
      code.catch(() => {});
      return { pid, exited: code, stdout: out.readEnd, stderr: err.readEnd, stdin };
    } catch (reason) {
      for (const { readEnd } of pipes) closeQuietly(readEnd);
      if (stdin !== undefined) closeQuietly(stdin);
      throw reason;
    } finally {
      for (const pipe of pipes) pipe.forget();
    }
  }

  async #byNode(
    argv: readonly string[],
    { withStdin = false, stop }: SpawnOptions,
  ): Promise<SpawnedProcess> {
    const pipes: Pipe[] = [];
    try {
      for (let count = 2; count > 0; count--) pipes.push(await this.#pipes.take());
      if (withStdin) pipes.push(await this.#pipes.takeBlocking());
      if (stop?.aborted === true) throw new Fault("cancelled", "it was stopped before it started");
    } catch (reason) {
      for (const { readEnd, writeEnd } of pipes)
        for (const end of [readEnd, writeEnd]) closeQuietly(end);
      throw reason;
    }
    const [out, err, own] = pipes as [Pipe, Pipe, Pipe | undefined];
    const [program = "", ...args] = argv;
    const child = spawn(program, args, {
      // Not a pipe of Node as stdin: it is a socket, with which bash reads its startup files.
      stdio: [
        own?.readEnd ?? "ignore",
        out.writeEnd,
        err.writeEnd,
        ...replacementsOfInheritedFiles(3),
      ],
      cwd: "/",
      env: { PATH: this.#searchPath },
      detached: true,
    });
    for (const end of [out.writeEnd, err.writeEnd, ...(own === undefined ? [] : [own.readEnd])])
      closeQuietly(end);
    const exited = new Promise<number>((resolve, reject) => {
      child.once("error", (cause) =>
        reject(new Fault("internal", `${program} cannot be started`, { cause })),
      );
      child.once("exit", (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
    });
    // The caller that runs it gets the error.
    exited.catch(() => {});
    const stdin = own?.writeEnd;
    return { pid: child.pid, exited, stdout: out.readEnd, stderr: err.readEnd, stdin };
  }
}

/** Returns the exit code of a status of wait(2), as shells compute it. */
function exitCodeOf(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? (status >> 8) & 0xff : 128 + signal;
}

/** Returns the number of a signal, as shells add it to exit codes. */
function signalNumber(signal: NodeJS.Signals | null): number {
  return constants.signals[signal ?? "SIGKILL"];
}
