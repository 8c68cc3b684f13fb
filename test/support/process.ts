import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program under test, with its complete output. */
export interface Program {
  readonly pid: number;
  /** Resolves with the first line of standard output that `wanted` accepts. */
  line(wanted: (line: string) => boolean): Promise<string>;
  /** The same for standard error. */
  note(wanted: (line: string) => boolean): Promise<string>;
  readonly finished: Promise<Finished>;
  signal(name: NodeJS.Signals): void;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Program {
  const child: ChildProcess = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => out.push(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => err.push(text));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout: out.join(""), stderr: err.join("") });
    });
  });
  finished.catch(() => {});

  return {
    pid: child.pid ?? 0,
    finished,
    line: firstLine(child.stdout, finished),
    note: firstLine(child.stderr, finished),
    signal: (name) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(name);
    },
  };
}

/** Stores a stream's lines, so that an earlier line is found, too. */
function firstLine(
  stream: Readable | null,
  finished: Promise<Finished>,
): (wanted: (line: string) => boolean) => Promise<string> {
  const lines: string[] = [];
  const wanting = new Set<(line: string) => void>();
  if (stream !== null) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      for (const look of wanting) look(line);
    });
  }
  return (wanted) =>
    new Promise((resolve, reject) => {
      const early = lines.find(wanted);
      if (early !== undefined) return resolve(early);
      const look = (line: string) => {
        if (!wanted(line)) return;
        wanting.delete(look);
        resolve(line);
      };
      wanting.add(look);
      finished.then(
        ({ stdout, stderr }) =>
          reject(new Error(`the program ended without that line:\n${stdout}${stderr}`)),
        reject,
      );
    });
}

/** Runs a program to its end. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Finished> {
  return startProgram(command, args, options).finished;
}
