import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Start =
  | { readonly kind: "ready"; readonly line: Readonly<Record<string, unknown>> }
  | { readonly kind: "failed"; readonly message: string };

/** A server or a worker that is replaced by a new process at each reload. */
export interface ReloadingProcess {
  /**
   * Ends the running process, starts the present program from the disk, and waits for its first line. `packages` are
   * loaded before it.
   */
  reload(packages: readonly string[] | undefined): Promise<Start>;
  /** Starts the process that will run the next build. */
  prepare(): void;
  stop(): Promise<void>;
}

const standby = join(import.meta.dirname, "standby.mjs");

export function reloadingProcess(options: {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}): ReloadingProcess {
  const { file, args, env } = options;
  let running: ChildProcess | undefined;
  let prepared: ChildProcess | undefined;
  let known: readonly string[] = [];

  const spawned = () =>
    spawn(
      process.execPath,
      ["--enable-source-maps", standby, file, JSON.stringify(known), ...args, "--end-with-parent"],
      { env, stdio: ["pipe", "pipe", "inherit", "ipc"] },
    );

  return {
    async reload(packages) {
      known = packages ?? known;
      // Its work must survive `kill -9` anyway, and an orderly stop takes longer than the start.
      await ended(running);
      const child = prepared ?? spawned();
      prepared = undefined;
      running = child;
      child.send("start");
      return firstLine(child);
    },
    prepare() {
      prepared ??= spawned();
    },
    async stop() {
      await Promise.all([ended(running), ended(prepared)]);
    },
  };
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Reads `{"ready":true,…}` or `{"ready":false,"error":…}`, which Grange's services print first. */
function firstLine(child: ChildProcess): Promise<Start> {
  return new Promise((resolve) => {
    const { stdout } = child;
    child.once("exit", (code, signal) =>
      resolve({ kind: "failed", message: `it ended (${signal ?? `exit code ${code}`})` }),
    );
    if (stdout === null) return;
    createInterface({ input: stdout }).once("line", (text) => {
      stdout.resume();
      const line = JSON.parse(text) as Record<string, unknown>;
      const error = line["error"] as { message?: string } | undefined;
      if (line["ready"] === true) resolve({ kind: "ready", line });
      else resolve({ kind: "failed", message: error?.message ?? text });
    });
  });
}
