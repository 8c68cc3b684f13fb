import type { Templates } from "./templates.ts";

/** A file and a line of it, from 1. */
type PlaceInFile = readonly [file: string, line: number];

/** The places of the jobs in one directory of definitions. */
export interface JobPlaces {
  readonly jobs: Readonly<Record<string, PlaceInFile>>;
  /** Expressions that produce jobs, whose names are not known in advance. */
  readonly expressions: readonly PlaceInFile[];
}

/** Returns the places of definitions that were read from files; those from a catalog have none. */
export function placesOfJobs({ jobs, expressions }: Templates): JobPlaces {
  const named = jobs.flatMap(({ name, origin }) => {
    const line = origin.lineOf(name);
    const place: PlaceInFile = [origin.file, line ?? 0];
    return line === undefined ? [] : [[name, place] as const];
  });
  return {
    jobs: Object.fromEntries(named),
    expressions: expressions.flatMap(({ origin }): PlaceInFile[] => {
      const line = origin.lineOf(undefined);
      return line === undefined ? [] : [[origin.file, line]];
    }),
  };
}
