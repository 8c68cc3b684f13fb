/** A file of the store, with the data that trimming uses. */
export interface KeptBlob {
  readonly path: string;
  readonly sizeBytes: number;
  /** More than one: a layer uses the file, and removing this name would free nothing. */
  readonly links: number;
  /** When the file was last linked or unlinked: its last use. */
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

/** A blob of this age may be waiting for the layer for which it was fetched. */
const youngMs = 10 * 60_000;

/** A tenth below the limit, so that not every new blob causes a trim. */
const trimTo = 0.9;

/** Layers need no space except for their directories; a build makes one layer for each action. */
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
