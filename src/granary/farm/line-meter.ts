import type { TransferLine } from "#commit-index/order-transfer.ts";

export interface LineMeter {
  /** A call of one small message each way took so long. */
  answered(ms: number): void;
  /** Bytes came without a pause of ours. */
  came(bytes: number, ms: number): void;
  /** Whether bytes were measured: else the line's speed is a guess. */
  isSpeedKnown(): boolean;
  /** Undefined before anything was measured. */
  line(): TransferLine | undefined;
}

/** The shortest of these is the line; the others are the farm at work. */
const rememberedAnswers = 32;

/** Until bytes came: 100 Mbit/s. */
const assumedBytesPerSecond = 12_500_000;

/** A few packets say more of the round trip than of the speed. */
const leastSampleBytes = 64 * 1024;

/**
 * The middle of these is the line: the first to come meet code that was not compiled yet, at both ends, and were seen to be
 * a quarter as fast as the next; others have waited in the kernel, and are faster than any line.
 */
const rememberedSamples = 9;

export function lineMeter(): LineMeter {
  const answers: number[] = [];
  const speeds: number[] = [];
  return {
    answered(ms) {
      answers.push(ms);
      if (answers.length > rememberedAnswers) answers.shift();
    },
    came(bytes, ms) {
      if (bytes < leastSampleBytes) return;
      speeds.push((bytes / Math.max(ms, 0.1)) * 1_000);
      if (speeds.length > rememberedSamples) speeds.shift();
    },
    isSpeedKnown: () => speeds.length > 0,
    line() {
      if (answers.length === 0) return undefined;
      return {
        roundTripMs: Math.min(...answers),
        bytesPerSecond: middleOf(speeds) ?? assumedBytesPerSecond,
      };
    },
  };
}

function middleOf(numbers: readonly number[]): number | undefined {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}
