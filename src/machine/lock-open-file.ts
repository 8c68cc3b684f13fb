import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { flockProgram } from "./flock-program.ts";

/** `unsupported`: the file system, this machine or its processor has no such lock. */
export type KernelLock = "locked" | "held" | "unsupported";

/** The pause between two attempts to run a program that another process still has open for writing. */
const busyMs = 10;
const busyAttempts = 20;

/**
 * Takes the kernel's lock on an open file, without waiting: see flock(2).
 *
 * The kernel releases it when the last process with this open file ends or closes it, for whatever reason and in any
 * pid namespace. `directories` are places for the program that takes the lock, if the usual directory for temporary
 * files does not allow programs.
 */
export async function lockOpenFile(
  file: number,
  directories: readonly string[] = [],
): Promise<KernelLock> {
  const program = process.platform === "linux" ? flockProgram(process.arch) : undefined;
  if (program === undefined) return "unsupported";
  for (const directory of [tmpdir(), ...directories]) {
    const code = await runIn(directory, program, file);
    if (code === 0) return "locked";
    if (code === constants.errno.EWOULDBLOCK) return "held";
    if (code !== undefined) return "unsupported";
  }
  return "unsupported";
}

/** Returns the exit code; undefined when no program can be written or run. */
async function runIn(
  directory: string,
  program: Buffer,
  file: number,
): Promise<number | undefined> {
  const place = await mkdtemp(join(directory, "grange-flock-")).catch(() => undefined);
  if (place === undefined) return undefined;
  try {
    const path = join(place, "flock");
    await writeFile(path, program, { mode: 0o700 });
    for (let attempt = 1; ; attempt++) {
      const ended = await exitOf(path, file);
      // A process that was started while the file was written has it open until its exec.
      if (ended !== "ETXTBSY" || attempt === busyAttempts)
        return typeof ended === "number" ? ended : undefined;
      await rest(busyMs);
    }
  } catch {
    return undefined;
  } finally {
    await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}

function exitOf(path: string, file: number): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(path, [], { stdio: ["ignore", "ignore", "ignore", file] });
    child.once("error", (reason: NodeJS.ErrnoException) => resolve(reason.code));
    child.once("exit", (code) => resolve(code ?? undefined));
  });
}
