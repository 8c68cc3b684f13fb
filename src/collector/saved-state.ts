import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TestCase } from "#core/test-case.ts";

const SavedState = z.object({
  /** The request of the collector's last job. */
  requestId: z.uuid().optional(),
  /**
   * The finished parts of a job. They are stored because the number of pairs does not show completion: pairs may stop
   * early.
   */
  job: z
    .object({ id: z.uuid(), fingerprint: z.string(), done: z.array(z.string()).max(10_000) })
    .optional(),
  /** The last measurement, for the self-test. */
  measured: z
    .object({
      definition: z.unknown(),
      component: z.unknown(),
      cases: z.array(TestCase).max(10_000),
    })
    .optional(),
  updateTried: z.object({ from: z.string(), to: z.string(), atMs: z.number() }).optional(),
  selfTestAtMs: z.number().optional(),
});
type SavedState = z.infer<typeof SavedState>;

/** The state of a collector that survives a restart. Without it, some work is done twice. */
export class Memory {
  readonly #path: string;
  #now: SavedState;

  private constructor(path: string, now: SavedState) {
    this.#path = path;
    this.#now = now;
  }

  static async open(dataDir: string): Promise<Memory> {
    const path = join(dataDir, "remembered.json");
    const text = await readFile(path, "utf8").catch(() => "{}");
    return new Memory(path, parsed(text));
  }

  get now(): SavedState {
    return this.#now;
  }

  async keep(change: Partial<SavedState>): Promise<void> {
    this.#now = { ...this.#now, ...change };
    await writeFile(`${this.#path}.part`, JSON.stringify(this.#now));
    await rename(`${this.#path}.part`, this.#path);
  }

  /** Returns the finished parts of this job, on this machine in its present state. */
  doneOf(jobId: string, fingerprint: string): readonly string[] {
    const { job } = this.#now;
    return job?.id === jobId && job.fingerprint === fingerprint ? job.done : [];
  }
}

function parsed(text: string): SavedState {
  try {
    return SavedState.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
