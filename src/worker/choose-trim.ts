/** A file of the store, as trimming sees it. */
export interface KeptBlob {
  readonly path: string;
  readonly sizeBytes: number;
  /** More than one: a layer stands on it, and removing this name would free nothing. */
  readonly links: number;
  /** When it was last linked or unlinked, which is when it was last of use. */
  readonly changedAtMs: number;
}

export interface KeptLayer {
  readonly key: string;
  readonly usedAtMs: number;
  readonly inUse: boolean;
}

interface Trim {
  readonly blobs: readonly KeptBlob[];
  /** Only when removing blobs is not enough. The files linked in these layers can be removed in the next round. */
  readonly layers: readonly KeptLayer[];
}

/** A blob this young may be waiting for the layer that it was fetched for. */
const youngMs = 10 * 60_000;

/** Below the limit by a tenth, so that not every new blob asks for a trim. */
const trimTo = 0.9;

/** Layers take no bytes of their own but directories: a build makes one for each action. */
const mostIdleLayers = 4_000;

/** Returns what to remove so that the store fits its limit: the least recently used first. */
export function chooseTrim(
  blobs: readonly KeptBlob[],
  layers: readonly KeptLayer[],
  limitBytes: number,
  nowMs: number,
): Trim {
  const idle = layers.filter((layer) => !layer.inUse).toSorted((a, b) => a.usedAtMs - b.usedAtMs);
  const tooMany = idle.slice(0, Math.max(0, idle.length - mostIdleLayers));
  let excess = blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  if (excess <= limitBytes) return { blobs: [], layers: tooMany };
  excess -= limitBytes * trimTo;

  const free = blobs
    .filter((blob) => blob.links === 1 && nowMs - blob.changedAtMs > youngMs)
    .toSorted((a, b) => a.changedAtMs - b.changedAtMs);
  const chosen: KeptBlob[] = [];
  for (const blob of free) {
    if (excess <= 0) break;
    chosen.push(blob);
    excess -= blob.sizeBytes;
  }
  const quarter = excess <= 0 ? 0 : Math.ceil(idle.length / 4);
  return { blobs: chosen, layers: idle.slice(0, Math.max(quarter, tooMany.length)) };
}
