import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import { Fault } from "#core/fault.ts";
import { endInTime } from "./end-in-time.ts";

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly timeoutMs?: number;
}

/** Runs a program until it ends. Only a program that cannot be started, or does not end, is a failure. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, input, timeoutMs = 600_000 }: RunOptions = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    endInTime(child, timeoutMs);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.once("error", (cause: NodeJS.ErrnoException) => {
      const missing = cause.code === "ENOENT";
      const message = missing ? `${program} is not installed` : `${program}: ${cause.message}`;
      reject(new Fault("failed_precondition", message, { cause }));
    });
    child.once("close", (exitCode) =>
      resolve({
        exitCode,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      }),
    );
    // For a program that ends without reading everything, the exit code decides.
    child.stdin.on("error", () => {});
    if (input === undefined || typeof input === "string" || input instanceof Uint8Array) {
      child.stdin.end(input);
      return;
    }
    const source = Readable.from(input, { objectMode: false });
    source.once("error", (cause) => {
      child.kill("SIGKILL");
      reject(cause);
    });
    source.pipe(child.stdin);
  });
}

/** Runs a program that must succeed; returns its output. */
export async function outputOf(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await runProgram(program, args, options);
  if (exitCode === 0) return stdout;
  const output = (stderr.trim() || stdout.trim()).slice(-4_000);
  throw new Fault("failed_precondition", `${program} ${args[0] ?? ""} failed: ${output}`);
}
