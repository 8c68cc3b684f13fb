/** What a line is like: how long a question takes, and how fast bytes come. */
export interface Line {
  readonly roundTripMs: number;
  readonly bytesPerSecond: number;
}

export interface LineMeter {
  /** A call of one small message each way took so long. */
  answered(ms: number): void;
  /** Bytes came without a pause of ours. */
  came(bytes: number, ms: number): void;
  /** Undefined before anything was measured. */
  line(): Line | undefined;
}

/** The shortest of these is the line; the others are the farm at work. */
const rememberedAnswers = 32;

/** Until bytes came: 100 Mbit/s. */
const assumedBytesPerSecond = 12_500_000;

/** A few packets say more of the round trip than of the speed. */
const leastSampleBytes = 64 * 1024;

/** So much of the estimate is the latest sample: the last ten count. */
const weight = 0.2;

export function lineMeter(): LineMeter {
  const answers: number[] = [];
  let speed: number | undefined;
  return {
    answered(ms) {
      answers.push(ms);
      if (answers.length > rememberedAnswers) answers.shift();
    },
    came(bytes, ms) {
      if (bytes < leastSampleBytes) return;
      const sample = (bytes / Math.max(ms, 0.1)) * 1_000;
      speed = speed === undefined ? sample : speed + weight * (sample - speed);
    },
    line() {
      if (answers.length === 0) return undefined;
      return { roundTripMs: Math.min(...answers), bytesPerSecond: speed ?? assumedBytesPerSecond };
    },
  };
}
