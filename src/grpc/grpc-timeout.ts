const unitMs = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 } as const;

/** The longest that a Node timer can wait; a later deadline is as good as none. */
export const longestTimerMs = 2 ** 31 - 1;

/** Milliseconds of a `grpc-timeout` header; undefined when it is not one. */
export function parseGrpcTimeout(text: string): number | undefined {
  const [, value, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  if (value === undefined || unit === undefined) return undefined;
  return Number(value) * unitMs[unit as keyof typeof unitMs];
}

/** The header for a timeout; its number has at most eight digits, so long ones lose precision. */
export function formatGrpcTimeout(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  return whole < 100_000_000 ? `${whole}m` : `${Math.ceil(whole / 1_000)}S`;
}
