import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program under test, with everything that it said. */
export interface Program {
  readonly pid: number;
  /** Resolves with the first line of standard output that `wanted` accepts. */
  line(wanted: (line: string) => boolean): Promise<string>;
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
  const wanting = new Set<(line: string | undefined) => void>();
  const lines: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => out.push(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => err.push(text));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      for (const look of wanting) look(line);
    });
  }
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, stdout: out.join(""), stderr: err.join("") });
      for (const look of wanting) look(undefined);
    });
  });
  finished.catch(() => {});

  return {
    pid: child.pid ?? 0,
    finished,
    line: (wanted) =>
      new Promise((resolve, reject) => {
        const early = lines.find(wanted);
        if (early !== undefined) return resolve(early);
        const look = (line: string | undefined) => {
          if (line !== undefined && !wanted(line)) return;
          wanting.delete(look);
          if (line !== undefined) resolve(line);
          else
            reject(
              new Error(`the program ended without that line:\n${out.join("")}${err.join("")}`),
            );
        };
        wanting.add(look);
        if (child.exitCode !== null) look(undefined);
      }),
    signal: (name) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(name);
    },
  };
}

/** Runs a program to its end. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Finished> {
  return startProgram(command, args, options).finished;
}
