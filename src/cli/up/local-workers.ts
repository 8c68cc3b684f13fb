export interface LocalWorker {
  readonly name: string;
  readonly sizeClass: number;
  readonly slots: number;
}

export interface Machine {
  readonly hostname: string;
  readonly cores: number;
}

/**
 * The workers of this machine: a small one and, where there are two cores or more,
 * a larger one beside it. `count` says how many instead; those beyond are small.
 *
 * A slot of size class 2 is worth two cores. Half the cores serve small slots and
 * half large ones, so that both at work do not ask for more than there is; on two
 * cores they share, for each must have a slot.
 */
export function localWorkers({ hostname, cores }: Machine, count?: number): LocalWorker[] {
  const host = hostname.split(".")[0]?.replace(/[^A-Za-z0-9-]/g, "-") || "local";
  return Array.from({ length: count ?? Math.min(2, cores) }, (_, index) => {
    const sizeClass = index === 1 && cores >= 2 ? 2 : 1;
    const slots = Math.max(1, Math.floor(cores / 2 / sizeClass));
    return { name: `${host}-${index + 1}`, sizeClass, slots };
  });
}
