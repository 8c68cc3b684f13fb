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
};

/** `512MiB`, `1.5 GiB`, `2GB` in bytes; undefined when it is no amount of memory. */
export function parseMemorySize(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text);
  const unit = unitBytes[found?.[2] ?? ""];
  return unit === undefined ? undefined : Math.round(Number(found?.[1]) * unit);
}
