/**
 * One attack on the farm, named by what it tries ("a blob whose size is below zero").
 *
 * Methods, not properties, so that suites of different targets fit in one list.
 */
export interface HostileCase<Target> {
  readonly name: string;
  /** It uses much of the machine or changes state that other cases read: it runs alone. */
  readonly alone?: boolean;
  /** Throws if the farm did not behave as it must. */
  run(target: Target, clock?: RefusalClock): Promise<void>;
}

/** Receives the duration of a refusal, for a case that does more than this refusal. */
interface RefusalClock {
  readonly took: (ms: number) => void;
}

export interface HostileSuite<Target = unknown> {
  /** The attacked interface, with its name in the documents. */
  readonly interface: string;
  /** The minimum number of cases. */
  readonly atLeast: number;
  readonly cases: readonly HostileCase<Target>[];
  open(options: OpenOptions): Promise<OpenSuite<Target>>;
}

export interface OpenOptions {
  /** The full sizes in the cases' names; otherwise smaller sizes with the same effect. */
  readonly full: boolean;
}

export interface OpenSuite<Target> {
  readonly target: Target;
  readonly stop: () => Promise<void>;
}

/** Large sizes run only on request. */
export const isFull = process.env["GRANGE_HOSTILE_FULL"] !== undefined;
