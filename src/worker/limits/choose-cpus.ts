/** How busy CPUs are with the work assigned to them; absent: idle. */
export type CpuLoads = ReadonlyMap<number, number>;

/**
 * Returns the CPUs for a share: whole ones, enough for it, the least loaded first.
 *
 * A share that had CPUs of its own keeps them while there are enough. Among equals, threads of one core are taken
 * together, because two jobs on one core slow each other down.
 */
export function chooseCpus(
  cpus: readonly number[],
  coreOf: ReadonlyMap<number, string>,
  loads: CpuLoads,
  share: number,
): number[] {
  const many = Math.min(cpus.length, cpusFor(share));
  const core = (cpu: number) => coreOf.get(cpu) ?? `${cpu}`;
  const coreLoads = new Map<string, number>();
  for (const cpu of cpus) {
    coreLoads.set(core(cpu), (coreLoads.get(core(cpu)) ?? 0) + (loads.get(cpu) ?? 0));
  }
  const chosen: number[] = [];
  while (chosen.length < many) {
    const cores = new Set(chosen.map(core));
    const [next] = cpus
      .filter((cpu) => !chosen.includes(cpu))
      .map((cpu) => ({
        cpu,
        load: loads.get(cpu) ?? 0,
        // The sibling of a chosen CPU is not useful to other jobs any more.
        coreLoad: cores.has(core(cpu)) ? -1 : (coreLoads.get(core(cpu)) ?? 0),
      }))
      .toSorted((a, b) => a.load - b.load || a.coreLoad - b.coreLoad || a.cpu - b.cpu);
    if (next === undefined) break;
    chosen.push(next.cpu);
  }
  return chosen.toSorted((a, b) => a - b);
}

/** Returns how many CPUs a share can keep busy at one time, which its processes see as their number. */
export function cpusFor(share: number): number {
  return Math.max(1, Math.ceil(share - 1e-9));
}

/** Loads with a share more, spread evenly over its CPUs; with a negative one, that much less. */
export function withLoad(loads: CpuLoads, cpus: readonly number[], share: number): CpuLoads {
  const more = new Map(loads);
  for (const cpu of cpus) {
    const load = (more.get(cpu) ?? 0) + share / cpus.length;
    // Adding and removing in another order must not leave rounding errors.
    more.set(cpu, Math.abs(load) < 1e-9 ? 0 : load);
  }
  return more;
}
