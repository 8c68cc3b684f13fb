/** Counts the instructions of a command, in user space, and writes them to file 3. */
export interface Counter {
  readonly kind: "perf" | "cachegrind";
  /** `simulator`: further arguments, if it is one. */
  readonly commandLine: (argv: readonly string[], simulator: readonly string[]) => string[];
  /** Undefined when nothing was counted, or when counting was interrupted. */
  readonly read: (report: string) => number | undefined;
}

/** The hardware's counters: no cost, and exact. */
export const perfCounter: Counter = {
  kind: "perf",
  commandLine: (argv) => [
    "perf",
    "stat",
    "-x,",
    "-e",
    "instructions:u",
    "--log-fd",
    "3",
    "--",
    ...argv,
  ],
  read: readPerf,
};

/** A simulator: about thirty times slower, on any machine. */
export const cachegrindCounter: Counter = {
  kind: "cachegrind",
  commandLine: (argv, simulator) => [
    "valgrind",
    "--tool=cachegrind",
    "--cache-sim=no",
    "--cachegrind-out-file=/dev/null",
    "--log-fd=3",
    ...simulator,
    ...argv,
  ],
  read: readCachegrind,
};

/** `count,unit,event,time running,percent running,…`; `<not supported>` for a count. */
export function readPerf(report: string): number | undefined {
  for (const line of report.split("\n")) {
    const [count = "", , event = "", , percent = ""] = line.split(",");
    if (!event.startsWith("instructions")) continue;
    // A counter that is shared with other events is an estimate. rustc-perf rejects such values, too.
    const isWhole = Number(percent) > 99.99;
    return /^\d+$/.test(count) && isWhole ? Number(count) : undefined;
  }
  return undefined;
}

/** Parses one line `I refs: 1,234` for each process; `--trace-children=yes` makes several. */
export function readCachegrind(report: string): number | undefined {
  const counts = [...report.matchAll(/^==\d+==\s+I\s+refs:\s+([\d,]+)\s*$/gm)].map(
    ([, digits = ""]) => Number(digits.replaceAll(",", "")),
  );
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}
