export interface LocalWorker {
  readonly name: string;
  readonly sizeClass: number;
  readonly slots: number;
  /** What one slot gives; `all` of the machine. */
  readonly cpus: number | "all";
  readonly memoryBytes: number | "all";
}

interface Machine {
  readonly hostname: string;
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * The workers of this machine: a small one and, where there are two cores or more,
 * a larger one beside it. `count` says how many instead; those beyond are small.
 *
 * A slot of size class 2 is worth two cores. Half the cores serve small slots and
 * half large ones, so that both at work do not ask for more than there is; on two
 * cores they share, for each must have a slot.
 *
 * Small slots are held to one core and its part of the memory. Those of the largest class may have all that
 * is free: this is the only machine of the farm, and what does not run there runs nowhere.
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
