/** What a group has at one moment. */
export interface MemorySample {
  /** All that is charged to it, files that it has read among it. */
  readonly chargedBytes: number;
  /** What cannot be taken from it without ending it: its own pages, and files in memory. */
  readonly heldBytes: number;
}

/**
 * The most that a group needed at once.
 *
 * The kernel's own peak counts the cache of files, too: whoever copies a large file has "used" its limit,
 * and learning from that would send it to ever greater classes. So the cache that was seen is taken off;
 * what grew between two looks is taken for needed.
 */
export class HeldPeak {
  #held = 0;
  #charged = 0;

  see({ chargedBytes, heldBytes }: MemorySample): void {
    this.#held = Math.max(this.#held, heldBytes);
    this.#charged = Math.max(this.#charged, chargedBytes);
  }

  /** @param kernelPeak 0 where the kernel keeps none. */
  of(kernelPeak: number): number {
    const unseen = Math.max(0, kernelPeak - this.#charged);
    return kernelPeak === 0 ? this.#held : Math.min(kernelPeak, this.#held + unseen);
  }
}
