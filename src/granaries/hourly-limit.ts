import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";

const hourMs = 60 * 60_000;
const mostRemembered = 10_000;

/**
 * Counts what each does on this server within an hour; throws `resource_exhausted` for one that does more than `most`.
 *
 * For what would fill the disk, and is not worth a statement: with two servers it is twice as much.
 */
export function hourlyLimit(most: number, what: string, clock: Clock): (who: string) => void {
  const counts = new Map<string, { since: number; count: number }>();
  return (who) => {
    const now = clock.now().getTime();
    const known = counts.get(who);
    if (known === undefined || now - known.since >= hourMs) {
      counts.delete(who);
      counts.set(who, { since: now, count: 1 });
      const [oldest] = counts.keys();
      if (counts.size > mostRemembered && oldest !== undefined) counts.delete(oldest);
      return;
    }
    known.count++;
    if (known.count <= most) return;
    throw new Fault(
      "resource_exhausted",
      `${who} has ${what} ${most} times within an hour, which is the most`,
    );
  };
}
