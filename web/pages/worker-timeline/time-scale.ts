/** Maps times (ms since the begin of the period) to pixels, and back. Pure. */
export interface TimeScale {
  readonly xOf: (ms: number) => number;
  readonly msOf: (x: number) => number;
}

/** Ages below this are not stretched further by the logarithmic scale. */
const stretchMs = 1_000;

/**
 * Returns a scale for a part of a period on so many pixels.
 *
 * The logarithmic one gives each order of magnitude of age the same width: a second ago is as readable as a day ago.
 * `nowMs` is the end of the period, from which ages count.
 */
export function timeScale(
  kind: "linear" | "logarithmic",
  part: { readonly fromMs: number; readonly toMs: number },
  nowMs: number,
  width: number,
): TimeScale {
  const at = (ms: number) =>
    kind === "linear" ? ms : -Math.log(1 + Math.max(0, nowMs - ms) / stretchMs);
  const back = (value: number) =>
    kind === "linear" ? value : nowMs - (Math.exp(-value) - 1) * stretchMs;
  const [first, last] = [at(part.fromMs), at(part.toMs)];
  const span = Math.max(last - first, Number.EPSILON);
  return {
    xOf: (ms) => ((at(ms) - first) / span) * width,
    msOf: (x) => back(first + (x / width) * span),
  };
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Returns the ages (ms before now) at which the axis has ticks, the greatest first; not nearer than `apart` pixels. */
export function tickAges(
  scale: TimeScale,
  part: { readonly fromMs: number; readonly toMs: number },
  nowMs: number,
  apart: number,
): number[] {
  const oldest = nowMs - part.fromMs;
  const newest = nowMs - part.toMs;
  const ages = new Set<number>();
  for (const step of steps.toReversed()) {
    // Multiples of a fine step are many: beyond a few hundred no screen has place for them.
    if ((oldest - newest) / step > 400) continue;
    for (let age = Math.ceil(newest / step) * step; age <= oldest; age += step) {
      const x = scale.xOf(nowMs - age);
      const isFree = [...ages].every((known) => Math.abs(scale.xOf(nowMs - known) - x) >= apart);
      if (isFree) ages.add(age);
    }
  }
  return [...ages].toSorted((a, b) => b - a);
}

/** Returns an age for the axis: `now`, `30 s`, `2 h 30 min`. */
export function ageText(ms: number): string {
  if (ms === 0) return "now";
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
    ["ms", 1],
  ] as const;
  const at = units.findIndex(([, size]) => ms >= size);
  return units
    .slice(at, at + 2)
    .flatMap(([unit, size], n) => {
      const above = n === 0 ? Number.POSITIVE_INFINITY : (units[at]?.[1] ?? 1);
      const many = Math.floor((ms % above) / size);
      return many === 0 ? [] : [`${many} ${unit}`];
    })
    .join(" ");
}
