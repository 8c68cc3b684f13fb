import type { TransferLine } from "#commit-index/order-transfer.ts";

export interface LineMeter {
  /** Records the duration of a call with one small message in each direction. */
  answered(ms: number): void;
  /** Records received bytes without a pause on this side. */
  came(bytes: number, ms: number): void;
  /** Returns whether bytes were measured; otherwise the speed is assumed. */
  isSpeedKnown(): boolean;
  /** Undefined before anything was measured. */
  line(): TransferLine | undefined;
}

/** The shortest of these is the round trip; the others include the farm's work. */
const rememberedAnswers = 32;

/** Assumed until bytes arrived: 100 Mbit/s. */
const assumedBytesPerSecond = 12_500_000;

/** A few packets show the round trip rather than the speed. */
const leastSampleBytes = 64 * 1024;

/**
 * Their median is the speed of the line: the first ones run with uncompiled code on both ends, and were measured to be
 * a quarter as fast as the next; others were already buffered in the kernel, and seem faster than any line.
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
