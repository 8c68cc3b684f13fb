/** A root file system of an image on this machine. */
export interface StoredRoot {
  readonly key: string;
  /** The layers that it has hard links to. */
  readonly layers: readonly string[];
  readonly usedAtMs: number;
}

export interface StoredLayer {
  readonly hex: string;
  readonly bytes: number;
  readonly usedAtMs: number;
}

interface Stored {
  readonly roots: readonly StoredRoot[];
  readonly layers: readonly StoredLayer[];
  /** The names of roots and layers that an execution or a pull uses now. */
  readonly inUse: ReadonlySet<string>;
}

interface EvictionRules {
  readonly nowMs: number;
  /** The most bytes of all layers together. */
  readonly storeBytes: number;
  /** Whether this worker can use a root. Roots of other formats are removed even if there is enough space. */
  readonly isUsable: (key: string) => boolean;
  /** Nobody needs a layer of this age that is in no image: its pull has failed. */
  readonly abandonedAfterMs: number;
}

/**
 * Returns the images and layers to remove, so that the layers are within their limit: the images that were not used for
 * longest, then the layers that no remaining image has.
 */
export function chooseEvictions(
  { roots, layers, inUse }: Stored,
  { nowMs, storeBytes, isUsable, abandonedAfterMs }: EvictionRules,
): { readonly roots: readonly string[]; readonly layers: readonly string[] } {
  let excess = layers.reduce((sum, { bytes }) => sum + bytes, 0) - storeBytes;
  const kept = new Set(roots);
  const isUsed = (hex: string) => [...kept].some((root) => root.layers.includes(hex));
  const removed: string[] = [];
  for (const root of roots.toSorted((a, b) => a.usedAtMs - b.usedAtMs)) {
    if ((excess <= 0 && isUsable(root.key)) || inUse.has(root.key)) continue;
    kept.delete(root);
    removed.push(root.key);
    for (const layer of layers) {
      if (root.layers.includes(layer.hex) && !isUsed(layer.hex)) excess -= layer.bytes;
    }
  }
  const unused = layers.filter(({ hex, usedAtMs }) => {
    if (isUsed(hex) || inUse.has(hex)) return false;
    const wasInRoot = roots.some((root) => root.layers.includes(hex));
    return wasInRoot || nowMs - usedAtMs > abandonedAfterMs;
  });
  return { roots: removed, layers: unused.map(({ hex }) => hex) };
}
