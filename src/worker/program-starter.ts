import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { replacementsOfInheritedFiles } from "#machine/inherited-files.ts";
import type { HelperShell } from "./helper-shell.ts";
import { nativeProgram } from "./native/native-program.ts";

/** A program to start. */
export interface StartRequest {
  /** The paths of the pipes for its standard files, whose other ends are open; stdin is /dev/null when absent. */
  readonly stdin?: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The files through which it joins its control groups. */
  readonly groups: readonly string[];
  /** The sandbox in a copy of which it runs; absent for a program outside. */
  readonly copyOf?: CopiedSandbox | undefined;
  /** The first is an absolute path; in a copy, its path there. */
  readonly argv: readonly string[];
}

/** A sandbox to copy: `struct copy` of `native/sandbox-copy.h`. */
export interface CopiedSandbox {
  /** The path of a file of its mount namespace. */
  readonly namespace: string;
  /** Directories of this machine, each with its path in the copy. */
  readonly binds: readonly (readonly [from: string, at: string])[];
}

interface StartedProgram {
  readonly pid: number;
  /** The status as wait(2) gives it. */
  readonly exited: Promise<number>;
}

/** A starter, or why there is none. */
type StarterChoice =
  | { readonly starter: ProgramStarter; readonly why: "" }
  | { readonly starter: undefined; readonly why: string };

function without(why: string): StarterChoice {
  return { starter: undefined, why };
}

/** The name of its program in a worker's directory. */
export const starterName = "starter";

/** The pause grows by one millisecond after each attempt: five seconds in total. */
const mostAttempts = 100;

/**
 * Starts programs in the mounts of the worker's helper shell, by a small process that was started before: see
 * `native/starter.c`. When the helper shell is replaced, the next program gets another such process.
 */
export class ProgramStarter {
  readonly #shell: HelperShell;
  readonly #searchPath: string;
  readonly #program: string;
  readonly #paths = new Map<string, string | undefined>();
  #open: OpenStarter | undefined;
  readonly #all = new Set<OpenStarter>();
  #stopped = false;

  private constructor(shell: HelperShell, searchPath: string, program: string) {
    this.#shell = shell;
    this.#searchPath = searchPath;
    this.#program = program;
  }

  /** Tries it. Node starts the programs where it does not work. */
  static async open(
    shell: HelperShell,
    searchPath: string,
    runDir: string,
  ): Promise<StarterChoice> {
    const bytes = nativeProgram("starter", process.arch);
    if (bytes === undefined) return without(`there is no machine code for ${process.arch}`);
    const program = join(runDir, starterName);
    await writeFile(program, bytes, { mode: 0o755 });
    const starter = new ProgramStarter(shell, searchPath, program);
    const sh = starter.pathOf("sh");
    let why = "sh is not in the path";
    for (let attempt = 0; sh !== undefined; attempt++) {
      try {
        const trial = { stdout: "", stderr: "", groups: [], argv: [sh, "-c", "exit 42"] };
        const { exited } = await starter.start(trial);
        const status = await exited;
        if (status === 42 << 8) return { starter, why: "" };
        why = `a trial ended with status ${status}`;
        break;
      } catch (reason) {
        why = messageOf(reason);
        // A process that was being started while the file was written keeps it open until its exec.
        if (attempt === mostAttempts) break;
        await rest(1 + attempt);
      }
    }
    await starter.stop();
    return without(why);
  }

  /** Returns the absolute path of a program; undefined when it is not in the search path. */
  pathOf(program: string): string | undefined {
    if (program.startsWith("/")) return program;
    if (!this.#paths.has(program)) {
      const paths = this.#searchPath.split(":").map((directory) => join(directory, program));
      this.#paths.set(program, paths.find(isExecutable));
    }
    return this.#paths.get(program);
  }

  /** Throws `unavailable` when the starting process ends before it has answered. */
  async start(request: StartRequest): Promise<StartedProgram> {
    if (this.#shell.generation === 0) await this.#shell.run("true");
    if (this.#stopped) throw new Fault("unavailable", "the worker stops");
    const { generation } = this.#shell;
    if (this.#open?.generation !== generation || this.#open.hasEnded) {
      this.#open?.endWhenIdle();
      const opened = this.#spawn(generation);
      this.#open = opened;
      this.#all.add(opened);
      void opened.over.then(() => this.#all.delete(opened));
    }
    return this.#open.start(request);
  }

  /** Ends the process, and with it the sandboxes that it started. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#all].map((each) => each.stop()));
  }

  #spawn(generation: number): OpenStarter {
    const [program, ...args] = [...this.#shell.enter, this.#program];
    const child = spawn(program, args, {
      cwd: "/",
      env: { PATH: this.#searchPath },
      // Ctrl-C at a terminal only reaches the worker, which decides how to stop.
      detached: true,
      stdio: ["pipe", "pipe", "ignore", ...replacementsOfInheritedFiles(3)],
    });
    return new OpenStarter(child, generation, [`PATH=${this.#searchPath}`]);
  }
}

interface Waiting {
  readonly resolve: (started: StartedProgram) => void;
  readonly reject: (reason: Fault) => void;
}

interface Running {
  readonly resolve: (status: number) => void;
  readonly reject: Waiting["reject"];
}

/** `enum kind` of `starter.c`. */
const kinds = { started: 1, failed: 2, exited: 3 } as const;
const reportBytes = 12;

/** One process of the program, and the programs that it has started. */
class OpenStarter {
  readonly generation: number;
  /** Resolves when the process has ended. */
  readonly over: Promise<void>;
  readonly #child: ChildProcess;
  readonly #variables: readonly string[];
  readonly #waiting = new Map<number, Waiting>();
  readonly #running = new Map<number, Running>();
  #lastId = 0;
  #rest: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #endsWhenIdle = false;

  constructor(child: ChildProcess, generation: number, variables: readonly string[]) {
    this.#child = child;
    this.#variables = variables;
    this.generation = generation;
    this.over = new Promise((resolve) => {
      const end = (why: string) => {
        this.#end(why);
        resolve();
      };
      child.once("error", (reason) => end(messageOf(reason)));
      child.once("close", () => end("the process that starts programs has ended"));
    });
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    child.stdout?.on("data", (bytes: Buffer) => this.#hear(bytes));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  start(request: StartRequest): Promise<StartedProgram> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded || this.#child.stdin === null) {
        reject(new Fault("unavailable", "the process that starts programs has ended"));
        return;
      }
      this.#lastId = (this.#lastId + 1) % 2 ** 32;
      this.#waiting.set(this.#lastId, { resolve, reject });
      this.#child.stdin.write(encodeStart(this.#lastId, request, this.#variables));
    });
  }

  /** Ends the process when nothing that it started runs. */
  endWhenIdle(): void {
    this.#endsWhenIdle = true;
    if (this.#waiting.size + this.#running.size === 0) this.#child.stdin?.end();
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.over;
  }

  #hear(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    for (; at + reportBytes <= all.length; at += reportBytes)
      this.#report(all.readUInt32LE(at), all.readUInt32LE(at + 4), all.readUInt32LE(at + 8));
    this.#rest = all.subarray(at);
  }

  #report(kind: number, subject: number, value: number): void {
    switch (kind) {
      case kinds.started: {
        const exited = new Promise<number>((resolve, reject) =>
          this.#running.set(value, { resolve, reject }),
        );
        // The caller that runs the program gets the error.
        exited.catch(() => {});
        this.#waiting.get(subject)?.resolve({ pid: value, exited });
        this.#waiting.delete(subject);
        break;
      }
      case kinds.failed:
        this.#waiting
          .get(subject)
          ?.reject(new Fault("unavailable", `a program cannot be started: error ${value}`));
        this.#waiting.delete(subject);
        break;
      case kinds.exited:
        this.#running.get(subject)?.resolve(value);
        this.#running.delete(subject);
        break;
      default:
        this.#child.kill("SIGKILL");
    }
    if (this.#endsWhenIdle) this.endWhenIdle();
  }

  #end(why: string): void {
    this.#hasEnded = true;
    const fault = new Fault("unavailable", why);
    for (const each of [...this.#waiting.values(), ...this.#running.values()]) each.reject(fault);
    this.#waiting.clear();
    this.#running.clear();
  }
}

/** Returns a request as `starter.c` reads it. */
function encodeStart(id: number, request: StartRequest, variables: readonly string[]): Buffer {
  const { stdin = "", stdout, stderr, groups, copyOf, argv } = request;
  const copied = copyOf === undefined ? [] : [copyOf.namespace, ...copyOf.binds.flat()];
  const all = [stdin, stdout, stderr, ...groups, ...copied, ...argv, ...variables];
  const strings = Buffer.from(all.map((each) => `${each}\0`).join(""));
  // Numbers of the next request must be at a multiple of four.
  const size = headBytes + Math.ceil(strings.length / 4) * 4;
  const message = Buffer.alloc(size);
  const counts = [groups, copied, argv, variables].map(({ length }) => length);
  for (const [at, number] of [size, id, ...counts].entries()) message.writeUInt32LE(number, 4 * at);
  strings.copy(message, headBytes);
  return message;
}

/** `struct request`. */
const headBytes = 24;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
