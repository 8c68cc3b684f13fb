/** Returns a time in ms that all processes of this machine share, and that no correction of the clock changes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
