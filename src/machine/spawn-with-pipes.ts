import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Fault } from "#core/fault.ts";

/**
 * Spawns a program with pipes for its three standard streams.
 *
 * Throws `unavailable` when this process has too many open files for the pipes. Node then returns a child without
 * streams: its users would throw before they listen to its `error` event, which ends the process.
 */
export function spawnWithPipes(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly detached?: boolean;
  } = {},
): ChildProcessWithoutNullStreams {
  const child: ChildProcess = spawn(program, args, { ...options, stdio: "pipe" });
  if (hasPipes(child)) return child;
  child.once("error", () => {});
  throw new Fault(
    "unavailable",
    `${program} could not be started, because this process has too many open files; raise its limit (ulimit -n)`,
  );
}

function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  // The types do not say that they can also be undefined.
  return (child.stdin ?? undefined) !== undefined && (child.stdout ?? undefined) !== undefined;
}
