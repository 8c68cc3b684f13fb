import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TestCase } from "#core/test-case.ts";

const Remembered = z.object({
  /** Whose jobs it did last. */
  requestId: z.uuid().optional(),
  /** What of a job was done to the end: pairs stop by themselves, so that their number does not say it. */
  job: z
    .object({ id: z.uuid(), fingerprint: z.string(), done: z.array(z.string()).max(10_000) })
    .optional(),
  /** What was measured last, for the self-test. */
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
type Remembered = z.infer<typeof Remembered>;

/** What a collector knows from before it was started again. Nothing of it is needed: without it, more is done twice. */
export class Memory {
  readonly #path: string;
  #now: Remembered;

  private constructor(path: string, now: Remembered) {
    this.#path = path;
    this.#now = now;
  }

  static async open(dataDir: string): Promise<Memory> {
    const path = join(dataDir, "remembered.json");
    const text = await readFile(path, "utf8").catch(() => "{}");
    return new Memory(path, parsed(text));
  }

  get now(): Remembered {
    return this.#now;
  }

  async keep(change: Partial<Remembered>): Promise<void> {
    this.#now = { ...this.#now, ...change };
    await writeFile(`${this.#path}.part`, JSON.stringify(this.#now));
    await rename(`${this.#path}.part`, this.#path);
  }

  /** Of this job, on this machine as it is now. */
  doneOf(jobId: string, fingerprint: string): readonly string[] {
    const { job } = this.#now;
    return job?.id === jobId && job.fingerprint === fingerprint ? job.done : [];
  }
}

function parsed(text: string): Remembered {
  try {
    return Remembered.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
