/** The facts about the artifacts of a part of the main line, by position from 0. */
export interface KnownLine {
  readonly length: number;
  /** A figure; `failed` if measuring gave none; `asked` while it is in progress. An absent position is unknown. */
  readonly known: ReadonlyMap<number, number | "failed" | "asked">;
}

export interface Step {
  readonly before: number;
  readonly after: number;
  /** Relative. */
  readonly change: number;
  /** False: artifacts between the two could not be measured. */
  readonly exact: boolean;
}

export interface SearchStep {
  /** Positions to measure next, all at once. */
  readonly ask: readonly number[];
  /** Nothing is left to request, and nothing is in progress. */
  readonly over: boolean;
  /** The steps found so far, in the order of the line. */
  readonly steps: readonly Step[];
}

/** Measures the wanted positions; the steps are those between neighbouring measurements. */
export function planScan(line: KnownLine, wanted: readonly number[], least: number): SearchStep {
  const ask = wanted.filter((position) => !line.known.has(position));
  const underWay = wanted.some((position) => line.known.get(position) === "asked");
  return { ask, over: ask.length === 0 && !underWay, steps: stepsOf(line, least) };
}

/**
 * Divides each gap over which the figure changed by at least `least`, until every such change is between neighbours, or
 * has become a series of smaller changes.
 *
 * For a line of n artifacts with k steps it measures in the order of k·log n artifacts. Changes that cancel out within
 * a gap are not found: a scan first makes gaps short enough.
 */
export function planRefinement(line: KnownLine, least: number): SearchStep {
  const ask = [...endsUnknown(line), ...gapsOf(line).flatMap((gap) => middleOf(line, gap, least))];
  const underWay = [...line.known.values()].includes("asked");
  return { ask, over: ask.length === 0 && !underWay, steps: stepsOf(line, least) };
}

/**
 * Searches for the one largest step between the two ends: the search continues in the half over which the figure
 * changed more.
 */
export function planBisection(line: KnownLine, least: number): SearchStep {
  const ends = endsUnknown(line);
  if (ends.length > 0) return { ask: ends, over: false, steps: [] };
  if ([...line.known.values()].includes("asked")) return { ask: [], over: false, steps: [] };
  const largest = gapsOf(line).toSorted((a, b) => sizeOf(b) - sizeOf(a) || a.from - b.from)[0];
  if (largest === undefined || sizeOf(largest) < least) return { ask: [], over: true, steps: [] };
  const ask = middleOf(line, largest, least);
  return { ask, over: ask.length === 0, steps: ask.length === 0 ? [stepOf(largest)] : [] };
}

interface Gap {
  readonly from: number;
  readonly to: number;
  readonly change: number;
}

const sizeOf = (gap: Gap) => Math.abs(gap.change);

function endsUnknown({ length, known }: KnownLine): number[] {
  if (length === 0) return [];
  return [...new Set([0, length - 1])].filter((end) => !known.has(end));
}

/** Returns the gaps between neighbouring known figures. */
function gapsOf({ known }: KnownLine): Gap[] {
  const figures = [...known]
    .flatMap(([position, value]) => (typeof value === "number" ? [{ position, value }] : []))
    .toSorted((a, b) => a.position - b.position);
  return figures.flatMap((figure, i) => {
    const next = figures[i + 1];
    if (next === undefined) return [];
    const change = relativeChange(figure.value, next.value);
    return [{ from: figure.position, to: next.position, change }];
  });
}

/** Returns the relative change; from 0 to anything else it is above any limit. */
function relativeChange(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? Number.POSITIVE_INFINITY : (after - before) / Math.abs(before);
}

/**
 * Returns the position nearest to the middle of a gap that can still be measured; undefined when it is not worthwhile.
 */
function middleOf({ known }: KnownLine, gap: Gap, least: number): number[] {
  if (sizeOf(gap) < least) return [];
  const middle = (gap.from + gap.to) / 2;
  let best: number | undefined;
  for (let at = gap.from + 1; at < gap.to; at++) {
    const standing = known.get(at);
    if (standing === "asked") return [];
    if (standing !== undefined) continue;
    if (best === undefined || Math.abs(at - middle) < Math.abs(best - middle)) best = at;
  }
  return best === undefined ? [] : [best];
}

function stepsOf(line: KnownLine, least: number): Step[] {
  return gapsOf(line)
    .filter((gap) => sizeOf(gap) >= least)
    .map(stepOf);
}

function stepOf({ from, to, change }: Gap): Step {
  return { before: from, after: to, change, exact: to - from === 1 };
}
