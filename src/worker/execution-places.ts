import { closeSync, mkdirSync, writeFile, writeSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { giveToJobs } from "#machine/job-owner.ts";
import { ownOwner } from "#machine/owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { CopiedSandboxes } from "./copied-sandboxes.ts";
import { removeTreeOfUsers } from "./further-users.ts";
import type { ImageToRun } from "./image/oci/open-images.ts";
import { groupPrefix } from "./leftovers.ts";
import { killQuietly } from "./limits/cgroup-files.ts";
import type { ProcessGroup } from "./limits/limits.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { Machine } from "./machine.ts";
import { quoteForShell } from "./quote-for-shell.ts";
import { fixedPlaces, type Places } from "./sandbox/sandbox.ts";
import type { WaitingCommand } from "./sandbox/waiting-command.ts";
import type { ProcessSpawner, SpawnedProcess } from "./spawned-process.ts";

/** The environment of one execution: its directories, its group, and a sandbox that waits for it. */
export interface ExecutionPlace {
  readonly scratch: string;
  readonly temp: string;
  readonly home: string;
  readonly group: ProcessGroup;
  readonly waiting: WaitingSandbox | undefined;
  /** The execution has ended and its result is being sent, so the next place can be prepared. */
  left(): void;
  /** Stops and removes all its parts. */
  dispose(): Promise<void>;
}

interface WaitingSandbox {
  readonly process: SpawnedProcess;
  /** Throws `unavailable` when the sandbox can no longer become the command: it died, or does not see new mounts. */
  assertReady(): void;
  /** Replaces the sandbox's process with a command. */
  go(command: WaitingCommand): void;
}

/** A worker that stops waits for this attempt. */
const mostTryingMs = 10_000;

/** The capacity of a pipe without a reader, in bytes. */
const pipeBytes = 60_000;

/** An execution that runs longer than this has started when the next sandbox is prepared. In ms. */
const refillAfterMs = 25;

/** More would be unnecessary processes, because a place is made while an action runs. */
const mostReady = 16;

const placeDirectories = ["root", "home", "tmp"] as const;

/** The sandbox of a place: none, or one that waits, which bubblewrap makes or which is a copy of one original. */
type Preparation = "none" | "made" | "copied";

type PlacesMachine = Pick<Machine, "shell" | "sandbox" | "limiter" | "inputRoots" | "runDir">;

/**
 * Places for executions, some with a prepared sandbox. Preparing a sandbox takes as long as many actions run, so it is
 * done in advance.
 *
 * A prepared sandbox sees later mounts: the directory of this process is a shared mount in the namespace of the helper
 * shell, and the sandbox has a slave mount of it.
 */
export class ExecutionPlaces {
  readonly #machine: PlacesMachine;
  readonly #spawner: ProcessSpawner;
  readonly #most: number;
  /** Resolves when it is known whether sandboxes can wait on this machine. */
  readonly opened: Promise<boolean>;
  /** Resolves when it is known whether the further ones are copies of one original. */
  readonly copied: Promise<boolean>;
  readonly #copies: CopiedSandboxes;
  #ready: Promise<ExecutionPlace>[] = [];
  /** Those in the image that was used last. */
  #inImage: { readonly image: ImageToRun; readonly ready: Promise<ExecutionPlace>[] } | undefined;
  #canWait = false;
  #preparation: Exclude<Preparation, "none"> = "made";
  #shared: { readonly generation: number; readonly done: Promise<void> } | undefined;
  #stopped = false;
  #count = 0;
  #refilling: NodeJS.Timeout | undefined;

  constructor(machine: PlacesMachine, spawner: ProcessSpawner, slots: number) {
    this.#machine = machine;
    this.#spawner = spawner;
    this.#most = Math.min(slots, mostReady);
    this.#copies = new CopiedSandboxes(machine.sandbox, spawner, () => this.#make("none"));
    this.opened = this.#tryOut("made").then(
      () => {
        this.#canWait = true;
        this.#refill();
        return true;
      },
      // Then each sandbox is set up when it is needed, without preparation.
      () => false,
    );
    this.copied = this.opened.then((canWait) => canWait && this.#tryOutCopies());
  }

  /** Returns a place for the caller alone; with a waiting sandbox if one is ready and the caller wants it. */
  async take(wantsWaiting: boolean, image?: ImageToRun): Promise<ExecutionPlace> {
    const ready = image === undefined ? this.#ready : this.#readyIn(image);
    const next = wantsWaiting ? ready.shift() : undefined;
    const place = await next?.catch(() => undefined);
    try {
      place?.waiting?.assertReady();
      if (place) return place;
    } catch {
      await place?.dispose();
    }
    this.#refillSoon();
    return this.#make("none");
  }

  /** Returns the places in an image. Those in another image end: each of them keeps its image on the disk. */
  #readyIn(image: ImageToRun): Promise<ExecutionPlace>[] {
    if (this.#inImage?.image.root !== image.root) {
      const old = this.#inImage?.ready ?? [];
      for (const place of old) place.then((each) => each.dispose()).catch(() => {});
      this.#inImage = { image, ready: [] };
    }
    return this.#inImage.ready;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#refilling);
    await this.copied;
    const inImage = this.#inImage?.ready.splice(0) ?? [];
    const ready = await Promise.allSettled([...this.#ready.splice(0), ...inImage]);
    for (const one of ready) if (one.status === "fulfilled") await one.value.dispose();
    await this.#copies.close();
  }

  /** Prepares a place after a pause: an execution is about to start, and starting a process would delay it. */
  #refillSoon(): void {
    setImmediate(() => this.#refill());
  }

  /**
   * While another place is ready, there is no hurry: starting a process takes some milliseconds, and would delay the
   * end and the report of short actions.
   */
  #refillLater(): void {
    if (this.#ready.length === 0) this.#refillSoon();
    else this.#refilling ??= setTimeout(() => this.#refill(), refillAfterMs);
  }

  #refill(): void {
    clearTimeout(this.#refilling);
    this.#refilling = undefined;
    while (this.#canWait && !this.#stopped && this.#ready.length < this.#most) {
      const place = this.#make(this.#preparation);
      // The caller of `take` gets the error.
      place.catch(() => {});
      this.#ready.push(place);
    }
    this.#refillInImage();
  }

  #refillInImage(): void {
    const { image, ready } = this.#inImage ?? {};
    if (image === undefined || ready === undefined) return;
    while (this.#canWait && !this.#stopped && ready.length < this.#most) {
      // An image that is gone is pulled by the action that needs it.
      const release = image.retain();
      if (release === undefined) return;
      const place = this.#make("made", image).then(
        (made) => ({
          ...made,
          async dispose() {
            await made.dispose();
            release();
          },
        }),
        (reason: unknown) => {
          release();
          throw reason;
        },
      );
      place.catch(() => {});
      ready.push(place);
    }
  }

  async #make(preparation: Preparation, image?: ImageToRun): Promise<ExecutionPlace> {
    const { limiter, sandbox, runDir } = this.#machine;
    const scratch = join(runDir, `${this.#count++}`);
    const [root, home, temp] = placeDirectories.map((name) => join(scratch, name)) as [
      string,
      string,
      string,
    ];
    // Synchronously: four calls in the thread pool would cost more than all of this work.
    for (const path of [scratch, root, home]) {
      mkdirSync(path);
    }
    mkdirSync(temp, { mode: 0o777 });
    for (const path of [root, home, temp]) giveToJobs(path);
    const name = `${groupPrefix}${ownOwner()}~${scratch.split("/").slice(-2).join("~")}`;
    const group = await limiter.open({ name, scratch, inNamespace: sandbox.ownPids });
    const wait = async () => {
      try {
        if (preparation === "none") return undefined;
        return await this.#wait(preparation, { root, temp, home }, group, image);
      } catch (reason) {
        await group.close();
        await removeTree(scratch);
        throw reason;
      }
    };
    const waitingSandbox = await wait();
    const refill = () => this.#refillSoon();
    return {
      scratch,
      temp,
      home,
      group,
      waiting: waitingSandbox,
      left: refill,
      async dispose() {
        refill();
        await waitingSandbox?.end();
        await group.close().catch(() => {});
        await removeScratch(scratch);
      },
    };
  }

  async #wait(
    preparation: Preparation,
    places: Places,
    group: ProcessGroup,
    image?: ImageToRun,
  ): Promise<WaitingSandbox & { end(): Promise<void> }> {
    const { shell, sandbox } = this.#machine;
    const encode = sandbox.encodeWaiting?.bind(sandbox);
    if (sandbox.waiting === undefined || encode === undefined)
      throw new Fault("unimplemented", "no sandbox waits here");
    await this.share();
    const generation = shell.generation;
    const begun = () => this.#refillLater();
    const process =
      preparation === "copied"
        ? await this.#copies.spawn(places, group)
        : await this.#spawner.spawn(sandbox.waiting(places, image), group, { withStdin: true });
    const { stdin = -1 } = process;
    let state: "waiting" | "begun" | "dead" = "waiting";
    const over = () => {
      if (state === "waiting") state = "dead";
    };
    process.exited.then(over, over);
    return {
      process,
      assertReady() {
        if (state !== "dead" && shell.generation === generation) return;
        throw new Fault("unavailable", "a prepared sandbox no longer exists");
      },
      go(command) {
        state = "begun";
        write(stdin, encode(command, image));
        begun();
      },
      async end() {
        if (state === "begun") return;
        closeQuietly(stdin);
        if (process.pid !== undefined) killQuietly(-process.pid);
        await group.kill();
        await process.exited.catch(() => {});
        closeQuietly(process.stdout);
        closeQuietly(process.stderr);
      },
    };
  }

  /** Returns whether copies work here; otherwise bubblewrap makes each sandbox. */
  async #tryOutCopies(): Promise<boolean> {
    if (this.#machine.sandbox.copies === undefined) return false;
    try {
      await this.#tryOut("copied");
      this.#preparation = "copied";
      return true;
    } catch {
      return false;
    }
  }

  /** Once for each shell: later mounts below the directory become visible in earlier sandboxes. */
  async share(): Promise<void> {
    const { shell, runDir } = this.#machine;
    if (shell.kind === "plain") return;
    // Starts another shell when the last one has been killed.
    if (shell.generation === 0) await shell.run("true");
    const { generation } = shell;
    if (this.#shared?.generation !== generation) {
      const at = quoteForShell(runDir);
      const done = shell.run(`mount --bind ${at} ${at} && mount --make-shared ${at}`);
      // Several callers may arrive while a shell is new; without this, the same directory would be mounted several
      // times.
      this.#shared = { generation, done };
      done.catch(() => (this.#shared = undefined));
    }
    await this.#shared.done;
  }

  /** Starts a waiting sandbox, mounts a file into it, and checks whether the sandbox sees it. */
  async #tryOut(preparation: Preparation): Promise<void> {
    const { shell, inputRoots } = this.#machine;
    const place = await this.#make(preparation);
    const root = quoteForShell(join(place.scratch, "root"));
    const enough = new AbortController();
    try {
      if (inputRoots.kind === "overlay") {
        await shell.run(`mount -t tmpfs tmpfs ${root} && : >${root}/there`);
      } else await shell.run(`: >${root}/there`);
      const argv = ["/bin/sh", "-c", "test -e there"];
      const { root: directory } = fixedPlaces;
      place.waiting?.go({ arguments: argv, environment: new Map(), directory });
      const exited = await Promise.race([
        place.waiting?.process.exited,
        rest(mostTryingMs, enough.signal),
      ]);
      if (exited !== 0) throw new Fault("internal", "it saw nothing");
    } finally {
      enough.abort();
      if (inputRoots.kind === "overlay") await shell.run(`umount -l ${root}`).catch(() => {});
      closeQuietly(place.waiting?.process.stdout ?? -1);
      closeQuietly(place.waiting?.process.stderr ?? -1);
      await place.group.kill();
      await place.dispose();
    }
  }
}

/** Most executions leave all of these directories empty: removing them directly costs a quarter of listing each one. */
async function removeScratch(scratch: string): Promise<void> {
  const own = placeDirectories.map((name) => join(scratch, name));
  // In the thread pool: a removal may wait for the journal of the file system.
  await Promise.allSettled(own.map((path) => rmdir(path)));
  await rmdir(scratch).catch(() => removeTreeOfUsers(scratch).catch(() => {}));
}

function write(to: number, bytes: Buffer): void {
  if (bytes.length <= pipeBytes) {
    try {
      writeSync(to, bytes);
    } catch {
      // The sandbox has died: its exit code gives the reason.
    }
    closeSync(to);
    return;
  }
  // More than the pipe can store: the thread pool writes the rest while it is read.
  writeFile(to, bytes, () => closeQuietly(to));
}
