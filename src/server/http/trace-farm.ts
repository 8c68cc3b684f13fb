/** What ran, for whoever wants to know what would have been. */
export interface TraceFarm {
  /** Of so long a time until now: JSON lines of docs/size-class-traces.md, some hundreds at a time. */
  sizeClassTrace(backMs: number): AsyncIterable<string>;
}
