/** Parses a set of CPUs as the kernel writes it, such as `0-3,8`; returns an empty list for other text. */
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
