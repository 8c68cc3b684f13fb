/** One line of a table: a measurement, and whether it reaches its goal. */
export interface Row {
  readonly name: string;
  /** Null when it could not be measured; `how` then contains the reason, and the row does not hold. */
  readonly figure: number | string | null;
  readonly unit: string;
  /** In words, with the figure's unit. `for information` if there is no goal. */
  readonly goal: string;
  readonly holds: boolean;
  /** The method of measurement, so that anybody can repeat it. */
  readonly how: string;
  /** The values of a comparison with another program. */
  readonly compared?: Compared;
}

/** The values of two programs in a comparison, one of each round. */
interface Compared {
  readonly what: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  readonly ours: Samples;
  readonly peer: Samples;
}

/** The values of one program. */
export interface Samples {
  /** The name of the program, with its version. */
  readonly name: string;
  readonly samples: readonly number[];
}

export interface Measurement {
  /** The subject of the measurement, for the progress display. */
  readonly title: string;
  /** Takes minutes, or needs the package registry: runs only with `--long`. */
  readonly long: boolean;
  measure(options: MeasureOptions): Promise<Row[]>;
}

interface MeasureOptions {
  /** How long a measurement takes that lasts as long as its user wants; undefined: its usual time. */
  readonly minutes: number | undefined;
  /** Whether larger amounts may be measured, with `--long`. */
  readonly long: boolean;
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

/** A row whose figure must equal a value. */
export function exactly(
  name: string,
  figure: number | string,
  wanted: number | string,
  unit: string,
  how: string,
): Row {
  return { name, figure, unit, goal: `${wanted} ${unit}`.trim(), holds: figure === wanted, how };
}

/** A row without a goal, for information. */
export function forInformation(name: string, figure: number, unit: string, how: string): Row {
  return { name, figure: round(figure), unit, goal: "for information", holds: true, how };
}

function round(figure: number): number {
  return Math.abs(figure) >= 100 ? Math.round(figure) : Math.round(figure * 100) / 100;
}
