import { z } from "zod";
import type { NamespacedBlob } from "#cas/evictable.ts";
import type { Namespace } from "#cas/namespaces/namespace.ts";
import { digestKey } from "#core/digest.ts";
import { type Hold, stepOf, youngMs } from "./worth-of-blobs.ts";

const hourMs = 60 * 60_000;

/** The lower bounds of the classes of time without use, in ms. Blobs of the first class are young. */
export const idleClassesMs = [0, youngMs, 24 * hourMs, 7 * 24 * hourMs, 30 * 24 * hourMs] as const;

/** More projects are not told apart: the largest are kept. */
const mostProjects = 1_000;
/** The number of blobs that are named as the next to be removed. */
const mostNext = 100;

const Count = z.number().nonnegative();

/** What a store had when it was counted: its projects, and the blobs that eviction removes first. */
export const StoreCounts = z.object({
  at: z.iso.datetime(),
  /** The largest first. */
  projects: z.array(
    z.object({
      /** The namespace. */
      directory: z.string(),
      blobs: Count,
      bytes: Count,
      /** By the time without use, one for each of `idleClassesMs`. */
      idleBytes: z.array(Count).length(idleClassesMs.length),
    }),
  ),
  /** In the order of removal. Young blobs, and blobs that unfinished work needs, are not among them. */
  next: z.array(
    z.object({
      directory: z.string(),
      /** `<hash>/<size>`. */
      digest: z.string(),
      bytes: Count,
      lastUsedAt: z.iso.datetime(),
      /** People may want it: it is removed only when no other blob can be. */
      isHeld: z.boolean(),
    }),
  ),
});
export type StoreCounts = z.infer<typeof StoreCounts>;

interface Candidate {
  readonly blob: NamespacedBlob;
  readonly step: number;
  readonly isHeld: boolean;
}

/** Counts the blobs of a store by project, and finds those that eviction removes first. In constant space per project. */
export class StoreCensus {
  readonly #now: Date;
  readonly #projects = new Map<Namespace, { blobs: number; bytes: number; idleBytes: number[] }>();
  /** The first to be removed is the first; at most `mostNext`. */
  readonly #next: Candidate[] = [];

  constructor(now: Date) {
    this.#now = now;
  }

  add(blob: NamespacedBlob, hold: Hold | undefined): void {
    const { namespace, digest, lastUsedAt } = blob;
    const { sizeBytes } = digest;
    const idleMs = this.#now.getTime() - lastUsedAt.getTime();
    const project = this.#projects.get(namespace) ?? {
      blobs: 0,
      bytes: 0,
      idleBytes: idleClassesMs.map(() => 0),
    };
    this.#projects.set(namespace, project);
    const idleClass = Math.max(
      0,
      idleClassesMs.findLastIndex((from) => idleMs >= from),
    );
    project.blobs++;
    project.bytes += sizeBytes;
    project.idleBytes[idleClass] = (project.idleBytes[idleClass] ?? 0) + sizeBytes;
    const step = stepOf(idleMs, sizeBytes);
    if (step > 0 && hold !== "firm") this.#consider({ blob, step, isHeld: hold === "light" });
  }

  counts(): StoreCounts {
    const projects = [...this.#projects].map(([directory, counted]) => ({ directory, ...counted }));
    return {
      at: this.#now.toISOString(),
      projects: projects.toSorted((a, b) => b.bytes - a.bytes).slice(0, mostProjects),
      next: this.#next.map(({ blob: { namespace, digest, lastUsedAt }, isHeld }) => ({
        directory: namespace,
        digest: digestKey(digest),
        bytes: digest.sizeBytes,
        lastUsedAt: lastUsedAt.toISOString(),
        isHeld,
      })),
    };
  }

  #consider(candidate: Candidate): void {
    const last = this.#next[mostNext - 1];
    if (last !== undefined && !goesBefore(candidate, last)) return;
    const at = this.#next.findIndex((other) => goesBefore(candidate, other));
    this.#next.splice(at === -1 ? this.#next.length : at, 0, candidate);
    if (this.#next.length > mostNext) this.#next.pop();
  }
}

function goesBefore(a: Candidate, b: Candidate): boolean {
  return a.isHeld === b.isHeld ? a.step > b.step : b.isHeld;
}
