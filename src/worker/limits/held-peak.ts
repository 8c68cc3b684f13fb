/** The memory of a group at one moment. */
export interface MemorySample {
  /** All memory that is charged to the group, including cached files. */
  readonly chargedBytes: number;
  /** The part that cannot be reclaimed while the group runs: its own pages, and files in memory. */
  readonly heldBytes: number;
}

/**
 * The most memory that a group needed at once.
 *
 * The kernel's own peak includes cached files: a job that copies a large file has "used" its limit, and learning from
 * that would move it to ever larger classes. So the observed cache is subtracted; growth between two samples counts as
 * needed.
 */
export class HeldPeak {
  #held = 0;
  #charged = 0;

  see({ chargedBytes, heldBytes }: MemorySample): void {
    this.#held = Math.max(this.#held, heldBytes);
    this.#charged = Math.max(this.#charged, chargedBytes);
  }

  /** @param kernelPeak 0 if the kernel does not record one. */
  of(kernelPeak: number): number {
    const unseen = Math.max(0, kernelPeak - this.#charged);
    return kernelPeak === 0 ? this.#held : Math.min(kernelPeak, this.#held + unseen);
  }
}
