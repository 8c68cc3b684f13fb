import { statfs } from "node:fs/promises";

/**
 * The mean time of the last calls at which the disk counts as slow, in ms. A call takes 2 to 20 us when the kernel knows
 * the file, and some 100 us when an SSD is read.
 */
const slowMs = 0.2;
/**
 * The part of the last call in that mean. One call of 5 ms in which another process had the CPU is not enough; two reads
 * of a hard disk are.
 */
const weight = 1 / 64;
/** After slow calls, the disk is asked by the thread pool for this time, in ms. */
const restMs = 1_000;

/**
 * The types of local file systems, as `statfs` returns them (linux/magic.h; OpenZFS has its own number). Files of others
 * may be on another machine, where a call can take as long as the network is cut.
 */
const localTypes: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Calls of one kind to a local disk that are made without the thread pool while the disk answers at once. */
interface QuickCalls {
  /** Whether a call may be made now. */
  mayCall(): boolean;
  /** Makes a call, which blocks the event loop. */
  call<T>(work: () => T): T;
}

/** Returns the measure for calls of one kind to the files of a directory. */
export async function quickCallsIn(directory: string): Promise<QuickCalls> {
  const { type } = await statfs(directory);
  const isLocal = localTypes.has(type);
  const pauses = pausesAfterSlowCalls();
  return {
    mayCall: () => isLocal && !pauses.isNow(performance.now()),
    call(work) {
      const startedAt = performance.now();
      try {
        return work();
      } finally {
        pauses.note(startedAt, performance.now());
      }
    },
  };
}

/** Decides when the disk counts as slow. All times in ms, of one clock. */
export function pausesAfterSlowCalls() {
  let meanMs = 0;
  let until = 0;
  return {
    isNow: (now: number): boolean => now < until,
    note(startedAt: number, endedAt: number): void {
      meanMs += weight * (endedAt - startedAt - meanMs);
      if (meanMs <= slowMs) return;
      meanMs = 0;
      until = endedAt + restMs;
    },
  };
}
