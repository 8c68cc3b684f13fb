const unitBytes: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  // A bare letter is binary, as in cgroups, systemd, the JVM and Docker.
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
};

/** Returns `512MiB`, `1.5 GiB`, `2GB` or `4G` in bytes; undefined for other text. */
export function parseMemorySize(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text);
  const unit = unitBytes[found?.[2] ?? ""];
  return unit === undefined ? undefined : Math.round(Number(found?.[1]) * unit);
}

/** Returns bytes for people: `1.5 GiB`. */
export function memorySizeText(bytes: number): string {
  const units = ["TiB", "GiB", "MiB", "KiB"] as const;
  const unit = units.find((name) => bytes >= (unitBytes[name] ?? 1));
  if (unit === undefined) return `${Math.round(bytes)} B`;
  const amount = bytes / (unitBytes[unit] ?? 1);
  return `${Number(amount.toFixed(amount < 10 ? 2 : amount < 100 ? 1 : 0))} ${unit}`;
}
