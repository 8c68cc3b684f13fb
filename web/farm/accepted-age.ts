/**
 * How old an answer of the farm may be, which the farm can then read from a replica of its database.
 *
 * A page accepts an answer that lacks the changes of the last seconds, unless this browser has just made a change, or
 * the page has just received one as an event: a read after that must show it.
 */
const acceptedSeconds = 5;

/** Longer than the accepted age, so that an answer after it contains the change. */
const freshForMs = 10_000;

const key = "grange-changed-at";

let heardAt = Number.NEGATIVE_INFINITY;
/** For browsers whose storage is off. */
let changedAt = Number.NEGATIVE_INFINITY;

/** Notes that this browser has changed something: all its tabs then read what is newest. */
export function noteChange(now = Date.now()): void {
  changedAt = now;
  try {
    localStorage.setItem(key, String(now));
  } catch {
    // Storage is off or full: other tabs do not know of the change.
  }
}

/** Notes that the page received an event, or may have missed one. */
export function noteNews(now = Date.now()): void {
  heardAt = now;
}

/** Returns the value of Cache-Control (RFC 9111) for a request that reads; undefined for the newest answer. */
export function acceptedAge(now = Date.now()): string | undefined {
  const newest = Math.max(heardAt, changedAt, storedChange());
  // A clock that was set back must not count as a change for hours.
  const isFresh = Math.abs(now - newest) < freshForMs;
  return isFresh ? undefined : `max-stale=${acceptedSeconds}`;
}

function storedChange(): number {
  try {
    return Number(localStorage.getItem(key) ?? Number.NEGATIVE_INFINITY);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
