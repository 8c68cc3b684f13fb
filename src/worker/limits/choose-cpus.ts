/** The load of CPUs by the work assigned to them; absent: idle. */
export type CpuLoads = ReadonlyMap<number, number>;

/**
 * Returns the CPUs for a share: enough whole CPUs, the least loaded first.
 *
 * A share that had its own CPUs keeps them while there are enough. Among equal CPUs, threads of one core are chosen
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
        // The sibling of a chosen CPU is no longer useful to other jobs.
        coreLoad: cores.has(core(cpu)) ? -1 : (coreLoads.get(core(cpu)) ?? 0),
      }))
      .toSorted((a, b) => a.load - b.load || a.coreLoad - b.coreLoad || a.cpu - b.cpu);
    if (next === undefined) break;
    chosen.push(next.cpu);
  }
  return chosen.toSorted((a, b) => a - b);
}

/** Returns how many CPUs a share can use at one time; its processes see this number of CPUs. */
export function cpusFor(share: number): number {
  return Math.max(1, Math.ceil(share - 1e-9));
}

/** Returns the loads with another share, spread evenly over its CPUs; a negative share is subtracted. */
export function withLoad(loads: CpuLoads, cpus: readonly number[], share: number): CpuLoads {
  const more = new Map(loads);
  for (const cpu of cpus) {
    const load = (more.get(cpu) ?? 0) + share / cpus.length;
    // Adding and removing in a different order must not leave rounding errors.
    more.set(cpu, Math.abs(load) < 1e-9 ? 0 : load);
  }
  return more;
}
