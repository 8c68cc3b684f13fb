/** Counts the executions that waited for a container image, as their workers reported to this server. */
export interface ImagePulls {
  readonly count: number;
  readonly ms: number;
  pulled(ms: number): void;
}

export function imagePulls(): ImagePulls {
  let count = 0;
  let sum = 0;
  return {
    get count() {
      return count;
    },
    get ms() {
      return sum;
    },
    pulled(ms) {
      if (ms <= 0) return;
      count++;
      sum += ms;
    },
  };
}
