import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#cas/disk/disk-fault.ts";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { ExecutionPlace } from "./execution-places.ts";
import { killQuietly } from "./limits/cgroup-files.ts";
import type { ProcessGroup } from "./limits/limits.ts";
import { closeQuietly } from "./logs/captured-log.ts";
import type { Places, Sandbox } from "./sandbox/sandbox.ts";
import { SandboxOriginal } from "./sandbox-original.ts";
import type { ProcessSpawner, SpawnedProcess } from "./spawned-process.ts";

/** Something of the view is replaced at most rarely. */
const mostAttempts = 3;

/**
 * Waiting sandboxes that are copies of one original. A copy takes a fraction of the time in which bubblewrap makes a
 * sandbox.
 */
export class CopiedSandboxes {
  readonly #sandbox: Sandbox;
  readonly #spawner: ProcessSpawner;
  readonly #makePlace: () => Promise<ExecutionPlace>;
  #opened: Promise<SandboxOriginal> | undefined;

  constructor(
    sandbox: Sandbox,
    spawner: ProcessSpawner,
    /** Returns a place without a sandbox, for the time in which an original is made. */
    makePlace: () => Promise<ExecutionPlace>,
  ) {
    this.#sandbox = sandbox;
    this.#spawner = spawner;
    this.#makePlace = makePlace;
  }

  /** Spawns a waiting sandbox: a copy of the original, or of a new one if what it shows or hides was replaced. */
  async spawn(places: Places, group: ProcessGroup): Promise<SpawnedProcess> {
    const { copies } = this.#sandbox;
    if (copies === undefined) throw new Fault("unimplemented", "no sandbox can be copied here");
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const opening = (this.#opened ??= this.#open());
      const original = await opening.catch((reason: unknown) => {
        this.#forget(opening);
        throw reason;
      });
      if (original.isCurrent(copies.view)) {
        // Without a pause since the check: a closed original has no file.
        return original.during(async ({ namespace }) => {
          const binds = copies.binds(places);
          const copyOf = { namespace, binds };
          const process = await this.#spawner.spawn(copies.waiter, group, {
            withStdin: true,
            copyOf,
          });
          try {
            await untilMounted(process, binds);
            return process;
          } catch (reason) {
            await endCopy(process, group);
            throw reason;
          }
        });
      }
      this.#forget(opening);
      original.close();
    }
    throw new Fault("unavailable", "the files that jobs see change too often");
  }

  /** Ends the original. No sandbox may be spawned later. */
  async close(): Promise<void> {
    const original = await this.#opened?.catch(() => undefined);
    original?.close();
  }

  async #open(): Promise<SandboxOriginal> {
    const place = await this.#makePlace();
    const { scratch, temp, home, group } = place;
    try {
      const places = { root: join(scratch, "root"), temp, home };
      return await SandboxOriginal.open(this.#sandbox, this.#spawner, { places, group });
    } finally {
      await place.dispose();
    }
  }

  #forget(opening: Promise<SandboxOriginal>): void {
    if (this.#opened === opening) this.#opened = undefined;
  }
}

/** A job waits for its sandbox: it gets another one after this time. */
const longestSetupMs = 10_000;

/**
 * Resolves when the copy has its directories.
 *
 * While they are moved into the copy they belong to no mount namespace, and the kernel adds no mounts to them then: the
 * job would not see an input tree that is mounted at that moment.
 *
 * Throws `unavailable` when the process ends before, or when this process may not look into the copy.
 */
async function untilMounted(
  { pid, exited }: SpawnedProcess,
  binds: readonly (readonly [from: string, at: string])[],
): Promise<void> {
  let hasEnded = false;
  const over = () => {
    hasEnded = true;
  };
  exited.then(over, over);
  const deadline = performance.now() + longestSetupMs;
  // The last one first: they are moved in their order, so most looks need one call.
  const mounts = binds
    .map(([from, at]) => ({ directory: statSync(from), at: `/proc/${pid}/root${at}` }))
    .toReversed();
  while (!mounts.every(({ directory, at }) => isSameDirectory(directory, at))) {
    if (hasEnded) throw new Fault("unavailable", "a sandbox ended before it was ready");
    if (performance.now() > deadline)
      throw new Fault("unavailable", "a sandbox was not ready in time");
    await rest(1);
  }
}

function isSameDirectory({ ino, dev }: Stats, path: string): boolean {
  try {
    // Without an error for the usual case: it would cost more than the call.
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.ino === ino && found.dev === dev;
  } catch (reason) {
    if (errnoOf(reason) === "EACCES")
      throw new Fault("unavailable", "the worker may not look into a sandbox", { cause: reason });
    // The process has not entered the copy, or has ended.
    return false;
  }
}

async function endCopy(process: SpawnedProcess, group: ProcessGroup): Promise<void> {
  closeQuietly(process.stdin ?? -1);
  if (process.pid !== undefined) killQuietly(-process.pid);
  await group.kill();
  await process.exited.catch(() => {});
  closeQuietly(process.stdout);
  closeQuietly(process.stderr);
}
