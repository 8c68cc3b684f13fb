/** One line of a table: what was measured, and whether it is good enough. */
export interface Row {
  readonly name: string;
  /** Null when it could not be measured; `how` then says why, and the row does not hold. */
  readonly figure: number | string | null;
  readonly unit: string;
  /** In words, with the figure's unit. `for information` where nothing is promised. */
  readonly goal: string;
  readonly holds: boolean;
  /** How it was measured, so that anybody can do it again. */
  readonly how: string;
}

export interface Measurement {
  /** What is being measured, for progress. */
  readonly title: string;
  /** Takes minutes, or needs the package registry: only with `--long`. */
  readonly long: boolean;
  measure(): Promise<Row[]>;
}

export interface Show {
  readonly name: string;
  readonly measurements: readonly Measurement[];
}

/** A row whose figure must not exceed a limit. */
export function atMost(
  name: string,
  figure: number,
  limit: number,
  unit: string,
  how: string,
): Row {
  return {
    name,
    figure: round(figure),
    unit,
    goal: `≤ ${limit} ${unit}`,
    holds: figure <= limit,
    how,
  };
}

/** A row whose figure must reach a limit. */
export function atLeast(
  name: string,
  figure: number,
  limit: number,
  unit: string,
  how: string,
): Row {
  return {
    name,
    figure: round(figure),
    unit,
    goal: `≥ ${limit} ${unit}`,
    holds: figure >= limit,
    how,
  };
}

/** A row whose figure must be exactly so. */
export function exactly(
  name: string,
  figure: number | string,
  wanted: number | string,
  unit: string,
  how: string,
): Row {
  return { name, figure, unit, goal: `${wanted} ${unit}`.trim(), holds: figure === wanted, how };
}

/** A row that promises nothing; people want to know it. */
export function forInformation(name: string, figure: number, unit: string, how: string): Row {
  return { name, figure: round(figure), unit, goal: "for information", holds: true, how };
}

function round(figure: number): number {
  return Math.abs(figure) >= 100 ? Math.round(figure) : Math.round(figure * 100) / 100;
}
