import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { ExecutionPlace } from "./execution-places.ts";
import type { ProcessGroup } from "./limits/limits.ts";
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
        return original.during(({ namespace }) =>
          this.#spawner.spawn(copies.waiter, group, {
            withStdin: true,
            copyOf: { namespace, binds: copies.binds(places) },
          }),
        );
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
