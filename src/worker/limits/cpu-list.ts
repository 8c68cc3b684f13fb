/** `0-3,8` as the kernel writes sets of CPUs; empty when it is none. */
export function parseCpuList(text: string): number[] {
  const cpus = text
    .trim()
    .split(",")
    .filter(Boolean)
    .flatMap((part) => {
      const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(part.trim()) ?? [];
      if (from === undefined) return [];
      const first = Number(from);
      return Array.from({ length: Number(to ?? from) - first + 1 }, (_, i) => first + i);
    });
  return [...new Set(cpus)].toSorted((a, b) => a - b);
}

export function cpuListText(cpus: readonly number[]): string {
  return cpus.toSorted((a, b) => a - b).join(",");
}
