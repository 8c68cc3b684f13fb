import type { SizeClassDetail } from "#api/size-class.ts";
import type { ClassUsageRow } from "#execution/sizing/size-class-usage.store.ts";

const hourMs = 3_600_000;
const shown = 24;

/** Returns the last 24 hours, oldest first, including empty ones. */
export function hoursOfClass(
  ran: readonly Pick<ClassUsageRow, "hour" | "runs" | "ms">[],
  price: number,
  now: Date,
): SizeClassDetail["hours"] {
  const latest = Math.floor(now.getTime() / hourMs);
  return Array.from({ length: shown }, (_, n) => {
    const hour = latest - shown + 1 + n;
    const within = ran.filter((each) => each.hour === hour);
    const seconds = within.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
    return {
      from: new Date(hour * hourMs).toISOString(),
      runs: within.reduce((sum, { runs }) => sum + runs, 0),
      busySeconds: seconds,
      cost: seconds * price,
    };
  });
}
