/**
 * One thing that somebody who means harm hands to the farm, named by what is tried ("a blob whose
 * size is below zero").
 *
 * Methods, not properties, so that suites of different targets stand in one list.
 */
export interface HostileCase<Target> {
  readonly name: string;
  /** Holds the machine while it runs, or changes what other cases look at: it runs by itself. */
  readonly alone?: boolean;
  /** Throws what was not as it should have been; ends well when the farm did as it must. */
  run(target: Target, clock?: RefusalClock): Promise<void>;
}

/** Told how long a refusal took, where a case does more than to be refused. */
interface RefusalClock {
  readonly took: (ms: number) => void;
}

export interface HostileSuite<Target = unknown> {
  /** The interface that is attacked, in the words of the documents. */
  readonly interface: string;
  /** So many cases there are at the least. */
  readonly atLeast: number;
  readonly cases: readonly HostileCase<Target>[];
  open(options: OpenOptions): Promise<OpenSuite<Target>>;
}

export interface OpenOptions {
  /** Sizes as they are written in the case's name; without it, smaller ones that say the same. */
  readonly full: boolean;
}

export interface OpenSuite<Target> {
  readonly target: Target;
  readonly stop: () => Promise<void>;
}

/** Heavy sizes run where somebody asks for them. */
export const isFull = process.env["GRANGE_HOSTILE_FULL"] !== undefined;
