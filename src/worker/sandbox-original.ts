import { closeSync, lstatSync, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { Fault } from "#core/fault.ts";
import type { ViewStep } from "./image/image-provider.ts";
import { killQuietly } from "./limits/cgroup-files.ts";
import type { ProcessGroup } from "./limits/limits.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { Places, Sandbox } from "./sandbox/sandbox.ts";
import type { ProcessSpawner } from "./spawned-process.ts";

/** The directories and the group that the process of an original uses while it exists. */
interface PlaceOfOriginal {
  readonly places: Places;
  readonly group: ProcessGroup;
}

/**
 * The mounts of a sandbox that bubblewrap has made once, from which `starter` makes the mounts of further sandboxes.
 *
 * Its process has ended: an open file keeps the mount namespace.
 */
export class SandboxOriginal {
  /** The path under which `starter` finds the mount namespace, as long as the file is open. */
  readonly namespace: string;
  readonly #file: number;
  readonly #identity: string;
  #uses = 0;
  #isClosed = false;

  private constructor(file: number, identity: string) {
    this.#file = file;
    this.#identity = identity;
    this.namespace = `/proc/${process.pid}/fd/${file}`;
  }

  /** Throws when there is no such sandbox, or when the kernel does not say which process it is. */
  static async open(
    sandbox: Sandbox,
    spawner: ProcessSpawner,
    { places, group }: PlaceOfOriginal,
  ): Promise<SandboxOriginal> {
    const { copies } = sandbox;
    if (copies === undefined) throw new Fault("unimplemented", "no sandbox can be copied here");
    // Before the sandbox exists: what is replaced meanwhile makes another original.
    const identity = identityOf(copies.view);
    const command = sandbox.commandLine({
      // It writes when all mounts exist, and waits.
      arguments: ["/bin/sh", "-c", "echo; read -r end"],
      environment: new Map(),
      root: places.root,
      temp: places.temp,
      home: places.home,
      workingDirectory: "",
      network: false,
    });
    const spawned = await spawner.spawn(command, group, { withStdin: true });
    try {
      await firstBytes(spawned.stdout);
      const original = new SandboxOriginal(namespaceOf(spawned.pid), identity);
      try {
        await original.#prepare(spawner, group);
        return original;
      } catch (reason) {
        original.close();
        throw reason;
      }
    } finally {
      closeQuietly(spawned.stdin ?? -1);
      closeQuietly(spawned.stderr);
      if (spawned.pid !== undefined) killQuietly(-spawned.pid);
      await group.kill();
      await spawned.exited.catch(() => {});
    }
  }

  /** Removes its mounts that each copy has for itself. */
  async #prepare(spawner: ProcessSpawner, group: ProcessGroup): Promise<void> {
    const copyOf = { namespace: this.namespace, binds: [] };
    const process = await spawner.spawn(["/none"], group, { copyOf });
    try {
      if ((await process.exited) === 0) return;
      throw new Fault("unavailable", readFileSync(process.stderr, "utf8").trim());
    } finally {
      closeQuietly(process.stdout);
      closeQuietly(process.stderr);
    }
  }

  /**
   * Returns whether the files and directories of the machine that it shows or hides are still the same ones. When one
   * is replaced, the kernel removes what is mounted on it, in all namespaces: the job would see it.
   */
  isCurrent(view: readonly ViewStep[]): boolean {
    return !this.#isClosed && identityOf(view) === this.#identity;
  }

  /** Its file is open until the work has ended. */
  async during<T>(work: (original: this) => Promise<T>): Promise<T> {
    this.#uses++;
    try {
      return await work(this);
    } finally {
      this.#uses--;
      this.#closeUnused();
    }
  }

  /** Closes its file when nothing uses it any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closeUnused();
  }

  #closeUnused(): void {
    if (this.#isClosed && this.#uses === 0) closeSync(this.#file);
  }
}

/** A job waits for its sandbox: it gets another one after this time. */
const longestSetupMs = 10_000;

/** Resolves when something was written into a pipe, which is then closed. */
function firstBytes(readEnd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new Socket({ fd: readEnd, readable: true, writable: false });
    socket.once("data", () => {
      resolve();
      socket.destroy();
    });
    socket.setTimeout(longestSetupMs, () => socket.destroy());
    socket.on("error", reject);
    socket.once("close", () =>
      reject(new Fault("unavailable", "a sandbox ended, or was not ready in time")),
    );
  });
}

/** Opens the mount namespace of a sandbox's first process, which is the only child of bubblewrap's first process. */
function namespaceOf(pid: number | undefined): number {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const child = children();
  if (!/^\d+$/.test(child)) throw new Fault("unavailable", "a sandbox has no process");
  const file = openSync(`/proc/${child}/ns/mnt`, "r");
  // Still a child, so the number belonged to it when the file was opened.
  if (child === readOrNothing(children)) return file;
  closeSync(file);
  throw new Fault("unavailable", "a sandbox ended while it was being copied");
}

function readOrNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns a text that changes when a file or directory of the view is replaced by another one. */
function identityOf(view: readonly ViewStep[]): string {
  const paths = view.flatMap((step) =>
    step.kind === "show" ? [step.path, step.from] : [step.path],
  );
  return [...new Set(paths)].map(identityOfFile).join(" ");
}

function identityOfFile(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  // A new file can have the number of a removed one, but not its time of creation.
  return found === undefined ? "-" : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
