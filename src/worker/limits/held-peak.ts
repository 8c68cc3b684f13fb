/** The memory of a group at one moment. */
export interface MemorySample {
  /** Everything that is charged to it, including cached files. */
  readonly chargedBytes: number;
  /** The part that cannot be reclaimed without ending it: its own pages, and files in memory. */
  readonly heldBytes: number;
}

/**
 * The most memory that a group needed at once.
 *
 * The kernel's own peak includes cached files: a job that copies a large file has "used" its limit, and learning from
 * that would move it to ever greater classes. So the observed cache is subtracted; growth between two samples counts as
 * needed.
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
