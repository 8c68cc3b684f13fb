import { spawn } from "node:child_process";
import { constants } from "node:os";
import { Fault } from "#core/fault.ts";
import { replacementsOfInheritedFiles } from "#machine/inherited-files.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { FifoPool, Pipe } from "./logs/fifo-pool.ts";

/** A process whose output has not been read yet. */
export interface SpawnedProcess {
  readonly pid: number | undefined;
  readonly exited: Promise<number>;
  /** Read ends of its pipes; the caller must close them. */
  readonly stdout: number;
  readonly stderr: number;
}

/**
 * Spawns a process with pipes for its output. `stdin` is closed here after the process has it.
 *
 * @param stop Throws `cancelled`, and spawns nothing, when this is aborted before the pipes exist.
 */
export async function spawnProcess(
  argv: readonly string[],
  searchPath: string,
  pipes: FifoPool,
  { stdin, stop }: { readonly stdin?: number; readonly stop?: AbortSignal } = {},
): Promise<SpawnedProcess> {
  const out = await pipes.take();
  const err = await pipes.take().catch((reason: unknown) => {
    closeBoth(out);
    throw reason;
  });
  if (stop?.aborted === true) {
    for (const pipe of [out, err]) closeBoth(pipe);
    throw new Fault("cancelled", "it was stopped before it started");
  }
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    // Not a pipe of Node as stdin: it is a socket, with which bash reads its startup files.
    stdio: [stdin ?? "ignore", out.writeEnd, err.writeEnd, ...replacementsOfInheritedFiles(3)],
    cwd: "/",
    env: { PATH: searchPath },
    detached: true,
  });
  for (const end of [out.writeEnd, err.writeEnd, ...(stdin === undefined ? [] : [stdin])]) {
    closeQuietly(end);
  }
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Fault("internal", `${program} cannot be started`, { cause })),
    );
    child.once("exit", (code, signal) => resolve(code ?? 128 + signalNumber(signal)));
  });
  // The caller that runs it gets the error.
  exited.catch(() => {});
  return { pid: child.pid, exited, stdout: out.readEnd, stderr: err.readEnd };
}

function closeBoth({ readEnd, writeEnd }: Pipe): void {
  for (const end of [readEnd, writeEnd]) closeQuietly(end);
}

/** Returns the number of a signal, as shells add it to exit codes. */
function signalNumber(signal: NodeJS.Signals | null): number {
  return constants.signals[signal ?? "SIGKILL"];
}
