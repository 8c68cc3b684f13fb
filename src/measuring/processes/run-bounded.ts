import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { Fault } from "#core/fault.ts";
import { replacementsOfInheritedFiles } from "#machine/inherited-files.ts";
import { KeptOutput } from "./kept-output.ts";
import { killAll, marker } from "./own-processes.ts";
import { watchMachine } from "./watch-machine.ts";

interface BoundedProcess {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether a sandbox ends all processes of the command with it. */
  readonly contained: boolean;
  /** The directory whose disk is watched. */
  readonly writes: string;
}

export interface EndedProcess {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The text that its meter wrote to file 3. */
  readonly report: string;
  /** Including start and end of the process. */
  readonly wallMs: number;
}

/** A program that prints more is broken, and reading its output costs time. In bytes. */
const mostOutputBytes = 256 * 1024 * 1024;

/**
 * Runs a command until it ends, in its own process group, and ends the whole group with it. A failed command is a
 * result; a command that had to be ended is a `Fault`.
 */
export async function runBounded(wanted: BoundedProcess): Promise<EndedProcess> {
  if (wanted.signal.aborted) throw cancelled();
  const mark = wanted.contained ? undefined : randomBytes(8).toString("hex");
  const [program = "", ...args] = wanted.argv;
  const startedAt = process.hrtime.bigint();
  const child = spawn(program, args, {
    cwd: wanted.cwd,
    env: mark === undefined ? { ...wanted.env } : { ...wanted.env, [marker]: mark },
    stdio: ["ignore", "pipe", "pipe", "pipe", ...replacementsOfInheritedFiles(4)],
    detached: true,
  });
  let why: Fault | undefined;
  const end = (fault: Fault): void => {
    why ??= fault;
    if (child.pid !== undefined) killAll(child.pid, mark);
  };
  const outputs = [new KeptOutput(), new KeptOutput(), new KeptOutput()] as const;
  const streams = child.stdio.slice(1, 4) as Readable[];
  streams.forEach((stream, i) => {
    const output = outputs[i as 0 | 1 | 2];
    stream.on("data", (chunk: Buffer) => {
      output.take(chunk);
      if (output.written > mostOutputBytes) end(wroteTooMuch());
    });
    stream.on("error", () => {});
  });

  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const onAbort = () => end(cancelled());
  wanted.signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => end(timedOut(wanted.timeoutMs)), wanted.timeoutMs);
  const watch = watchMachine(wanted.writes, end);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", (cause) =>
        reject(new Fault("failed_precondition", `${program} cannot be started`, { cause })),
      );
      child.once("exit", (code, signal) =>
        resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]),
      );
    });
    const wallMs = Number(process.hrtime.bigint() - startedAt) / 1e6;
    if (child.pid !== undefined) killAll(child.pid, mark);
    await closedSoon(closed, streams);
    if (why !== undefined) throw why;
    const [stdout, stderr, report] = outputs;
    return {
      exitCode,
      stdout: stdout.text(),
      stderr: stderr.text(),
      report: report.text(),
      wallMs,
    };
  } finally {
    clearTimeout(timer);
    watch.stop();
    wanted.signal.removeEventListener("abort", onAbort);
  }
}

/** A process that left the group may keep the pipes open forever. */
async function closedSoon(closed: Promise<void>, streams: readonly Readable[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      for (const stream of streams) stream.destroy();
      resolve();
    }, 2_000);
  });
  await Promise.race([closed, late]);
  clearTimeout(timer);
}

function cancelled(): Fault {
  return new Fault("cancelled", "measuring was stopped");
}
function timedOut(timeoutMs: number): Fault {
  return new Fault(
    "deadline_exceeded",
    `it did not end within ${timeoutMs / 1_000} s (timeoutMinutes of the suite)`,
  );
}
function wroteTooMuch(): Fault {
  return new Fault(
    "resource_exhausted",
    `it wrote more than ${mostOutputBytes / 1024 / 1024} MiB of output`,
  );
}
