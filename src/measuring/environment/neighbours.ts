import { cpuTimeNow, ownCpuTime } from "./cpu-time.ts";
import { fastestClock, throttleCount } from "./cpus.ts";

/** The state of the machine while a process was measured. */
export interface Meanwhile {
  readonly seconds: number;
  /** CPU seconds of other processes; CPU seconds of other machines on the same hardware. */
  readonly others: number;
  readonly stolen: number;
  /** MHz, of the fastest CPU; undefined where it is unknown. */
  readonly slowest: number | undefined;
  readonly fastest: number | undefined;
  readonly throttled: number;
}

/**
 * A tenth of a CPU, plus some hundredths of a second, because /proc counts in hundredths. Governors change an idle
 * clock by up to a tenth.
 */
const quietShare = 0.1;
const leastSeconds = 0.05;
const steadyClock = 0.9;

/** Returns the reasons to doubt the figures measured during that time. */
export function warningsOf(meanwhile: Meanwhile): string[] {
  const { seconds, others, stolen, slowest, fastest, throttled } = meanwhile;
  const isMuch = (cpuSeconds: number) =>
    cpuSeconds > leastSeconds && cpuSeconds > quietShare * seconds;
  const cpus = (cpuSeconds: number) => (cpuSeconds / seconds).toFixed(1);
  return [
    isMuch(others) ? `other processes kept ${cpus(others)} CPUs busy meanwhile` : "",
    isMuch(stolen) ? `the hypervisor took ${cpus(stolen)} CPUs away meanwhile` : "",
    slowest !== undefined && fastest !== undefined && slowest < steadyClock * fastest
      ? `the clock went between ${Math.round(slowest)} and ${Math.round(fastest)} MHz`
      : "",
    throttled > 0 ? "a CPU was slowed down because it was hot" : "",
  ].filter((warning) => warning !== "");
}

/** Often enough to see clocks, and rare enough not to disturb: a reading takes about 0.2 ms. */
const everyMs = 500;

export function watchNeighbours(): { end(): Meanwhile } {
  const [before, own, throttledBefore, from] = [
    cpuTimeNow(),
    ownCpuTime(),
    throttleCount(),
    performance.now(),
  ];
  const clocks: number[] = [];
  const timer = setInterval(() => {
    const clock = fastestClock();
    if (clock !== undefined) clocks.push(clock);
  }, everyMs);
  return {
    end() {
      clearInterval(timer);
      const now = cpuTimeNow();
      return {
        seconds: (performance.now() - from) / 1_000,
        others: now.busy - before.busy - (ownCpuTime() - own),
        stolen: now.stolen - before.stolen,
        slowest: clocks.length === 0 ? undefined : Math.min(...clocks),
        fastest: clocks.length === 0 ? undefined : Math.max(...clocks),
        throttled: throttleCount() - throttledBefore,
      };
    },
  };
}
