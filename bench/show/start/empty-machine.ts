import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Fault } from "#core/fault.ts";

/** A line that a command printed, and its time. */
export interface PrintedLine {
  readonly text: string;
  /** Since the command started on the machine; making the machine is not counted. */
  readonly ms: number;
}

export interface EmptyMachineRun {
  readonly exitCode: number;
  /** The duration of the command on the machine. */
  readonly ms: number;
  /** Standard output and standard error in the order in which they arrived. */
  readonly lines: readonly PrintedLine[];
}

export interface EmptyMachineCommand {
  /** The repository whose commit is in the machine's `origin.git`. */
  readonly checkout: string;
  readonly user: "ordinary" | "root";
  /** Debian packages in addition to Git, Node and npm. */
  readonly packages: readonly string[];
  /** A shell command; it starts in the home directory, beside `origin.git`. */
  readonly command: string;
  readonly timeoutMs: number;
}

const script = join(import.meta.dirname, "empty-machine.sh");
const started = "grange-show: the command starts";

/**
 * Runs a command on a machine that has only Debian's base system, Git, Node and npm.
 *
 * Throws `Fault("failed_precondition")` when such a machine cannot be made: it needs root and debootstrap.
 */
export async function onEmptyMachine(wanted: EmptyMachineCommand): Promise<EmptyMachineRun> {
  const hindrance = whyNoEmptyMachine();
  if (hindrance !== undefined) throw new Fault("failed_precondition", hindrance);
  const command = `echo '${started}'; ${wanted.command}`;
  const args = [script, wanted.checkout, wanted.user, wanted.packages.join(" "), command];
  const child = spawn("bash", args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const timer = setTimeout(() => endGroup(child.pid), wanted.timeoutMs);
  const lines: PrintedLine[] = [];
  let startedAt = performance.now();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (text) => {
      if (text === started) startedAt = performance.now();
      else lines.push({ text, ms: performance.now() - startedAt });
    });
  }
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 128));
    });
    return { exitCode, ms: performance.now() - startedAt, lines };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns why no empty machine can be made here; undefined when it is possible. */
function whyNoEmptyMachine(): string | undefined {
  if (process.getuid?.() !== 0) return "an empty machine is made by root only";
  const path = (process.env["PATH"] ?? "").split(delimiter);
  if (path.some((dir) => existsSync(join(dir, "debootstrap")))) return undefined;
  return "debootstrap is missing: apt-get install debootstrap";
}

/** Ends the script and, with it, all processes in the machine's PID namespace. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // It has already ended.
  }
}
