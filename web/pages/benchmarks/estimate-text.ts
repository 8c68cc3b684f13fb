import type { Estimate } from "#api/benchmark-request.ts";
import { durationText } from "../../parts/duration.ts";

/** Returns a duration in minutes, or in hours when it is long, because estimates are not more exact. */
function span(ms: number): string {
  return ms < 60_000 ? "less than a minute" : `about ${coarse(ms)}`;
}

function coarse(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : durationText(minutes * 60_000);
}

/** Describes the estimated end of a running request. */
export function endText({ endsAt, leastEndsAt, mostEndsAt }: Estimate, now: number): string {
  if (endsAt === null) return "its duration is not known";
  const left = Date.parse(endsAt) - now;
  const most = mostEndsAt === null ? left : Date.parse(mostEndsAt) - now;
  if (most < 0) return "takes longer than any recent one";
  if (left < 0) return "takes longer than usual";
  const least = leastEndsAt === null ? left : Math.max(0, Date.parse(leastEndsAt) - now);
  const isWide = coarse(least) !== coarse(most);
  return `ends in ${span(left)}${isWide ? ` (${coarse(least)} to ${coarse(most)})` : ""}`;
}

/** Describes the estimated start of a waiting request. */
export function startText({ startsAt }: Estimate, now: number): string {
  if (startsAt === null) return "its start is not known";
  const wait = Date.parse(startsAt) - now;
  return wait < 60_000 ? "begins next" : `begins in about ${coarse(wait)}`;
}
