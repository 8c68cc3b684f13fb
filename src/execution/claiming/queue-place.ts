/** Executions that are submitted within one window count as equally old, so that the longest comes first. */
const windowMs = 10_000;
/** One step of priority is worth this many windows of waiting. */
const windowsPerPriority = 1;
/** Stronger priorities have no further effect: this one equals 28 hours of waiting. */
export const strongestPriority = 10_000;
/** Durations are compared in tenths of a second, up to nineteen days. */
const durationStepMs = 100;
const durationSteps = 2 ** 24;

/**
 * Returns the place of an execution within its lane; the lowest comes first.
 *
 * The order is by priority with ageing, then the longest expected duration first. All executions age at the same rate,
 * so waiting never changes the order of two executions: the place is computed once, stored and indexed. An unknown
 * duration counts as the whole timeout, because an execution that may be long must not be last.
 */
export function queuePlace(execution: {
  readonly queuedAt: Date;
  /** As in REv2, lower priorities come first. */
  readonly priority: number;
  readonly expectedDurationMs?: number | undefined;
  readonly timeoutMs: number;
}): number {
  const window = Math.floor(execution.queuedAt.getTime() / windowMs);
  const expectedMs = execution.expectedDurationMs ?? execution.timeoutMs;
  const steps = clamp(Math.floor(expectedMs / durationStepMs), 0, durationSteps - 1);
  // Stays below 2^53 until the year 2140: windows need 29 bits, durations 24.
  const delay = delayOfPriorityMs(execution.priority) / windowMs;
  return (window + delay) * durationSteps + (durationSteps - 1 - steps);
}

/** Returns how much later than the usual priority an execution of this priority is placed; negative for earlier. */
export function delayOfPriorityMs(priority: number): number {
  return clamp(priority, -strongestPriority, strongestPriority) * windowsPerPriority * windowMs;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
