import type { LabTimes } from "../lab-times.ts";

/** Whether a collector should compare an artifact with itself. A collector that failed a test should repeat it soon. */
export function selfTestDue(
  last: { readonly at: Date; readonly passed: boolean } | undefined,
  now: Date,
  times: Pick<LabTimes, "selfTestEveryMs" | "failedSelfTestEveryMs">,
): boolean {
  if (last === undefined) return true;
  const everyMs = last.passed ? times.selfTestEveryMs : times.failedSelfTestEveryMs;
  return last.at.getTime() + everyMs <= now.getTime();
}
