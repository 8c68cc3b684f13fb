export interface LocalWorker {
  readonly name: string;
  readonly sizeClass: number;
  readonly slots: number;
  /** The CPUs of one slot; `all`: all CPUs of the machine. */
  readonly cpus: number | "all";
  readonly memoryBytes: number | "all";
}

interface Machine {
  readonly hostname: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * Returns the workers of this machine: a small one and, with two cores or more, also a larger one. `count` changes
 * their number; further ones are small.
 *
 * A slot of size class 2 represents two cores. Half the cores serve small slots and half large ones, so that both
 * together do not need more than the machine has; on two cores they share, because each needs a slot.
 *
 * Small slots are limited to one core and its part of the memory. Those of the largest class may use everything that is
 * free, because this is the only machine of the farm.
 */
export function localWorkers(
  { hostname, cores, memoryBytes }: Machine,
  count?: number,
): LocalWorker[] {
  const host = hostname.split(".")[0]?.replace(/[^A-Za-z0-9-]/g, "-") || "local";
  const many = count ?? Math.min(2, cores);
  const largest = many >= 2 && cores >= 2 ? 2 : 1;
  return Array.from({ length: many }, (_, index) => {
    const sizeClass = index === 1 && cores >= 2 ? 2 : 1;
    const slots = Math.max(1, Math.floor(cores / 2 / sizeClass));
    const isLargest = sizeClass === largest;
    return {
      name: `${host}-${index + 1}`,
      sizeClass,
      slots,
      cpus: isLargest ? "all" : 1,
      memoryBytes: isLargest ? "all" : Math.floor(memoryBytes / cores),
    };
  });
}
