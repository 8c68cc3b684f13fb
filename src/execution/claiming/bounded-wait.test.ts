import fc from "fast-check";
import { expect, test } from "vitest";
import { executionId } from "../execution.fixture.ts";
import { topLane } from "./fair-lane.ts";
import { type Candidate, orderClaims } from "./order-claims.ts";
import { delayOfPriorityMs, queuePlace } from "./queue-place.ts";

const second = 1_000;
const minute = 60 * second;
/** Executions that are queued within one window count as equally old. */
const windowMs = 10 * second;
/** At least the number of first executions per lane that a claim checks. */
const headsOfLane = 4;

interface Source {
  readonly lane: number;
  readonly priority: number;
  readonly everyMs: number;
}

interface Start {
  readonly candidate: Candidate;
  readonly at: number;
}

/** Simulates one worker, which is busy for `runMs` with each execution, and endless sources, on a simulated clock. */
function simulate(parts: {
  readonly sources: readonly Source[];
  readonly runMs: number;
  readonly overdueAfterMs: number;
  readonly untilMs: number;
  /** The sources end at this time; waiting executions are still processed, until `untilMs`. */
  readonly dryMs?: number;
}): { readonly started: readonly Start[]; readonly waiting: readonly Candidate[] } {
  const { sources, runMs, overdueAfterMs, untilMs, dryMs = untilMs } = parts;
  const lanes = new Map<number, Candidate[]>();
  const started: Start[] = [];
  const nextAt = sources.map(() => 0);
  for (let at = 0; at < untilMs; at += runMs) {
    sources.forEach(({ lane, priority, everyMs }, i) => {
      for (; (nextAt[i] ?? 0) <= Math.min(at, dryMs); nextAt[i] = (nextAt[i] ?? 0) + everyMs) {
        const queuedAt = new Date(nextAt[i] ?? 0);
        const place = queuePlace({ queuedAt, priority, timeoutMs: minute });
        const queue = lanes.get(lane) ?? [];
        const ownerLane = lane % 3;
        queue.push({ id: executionId(), sizeClass: 1, lane, ownerLane, place, priority, queuedAt });
        lanes.set(
          lane,
          queue.toSorted((a, b) => a.place - b.place),
        );
      }
    });
    const heads = [...lanes.values()].flatMap((queue) => queue.slice(0, headsOfLane));
    const nothing = new Map<number, number>();
    const busy = { lanes: nothing, owners: nothing };
    const situation = { busy, now: new Date(at), overdueAfterMs };
    const [first] = orderClaims(heads, situation);
    if (first === undefined) continue;
    started.push({ candidate: first, at });
    lanes.set(
      first.lane,
      (lanes.get(first.lane) ?? []).filter(({ id }) => id !== first.id),
    );
  }
  return { started, waiting: [...lanes.values()].flat() };
}

test("under endless load of high priority, executions of low priority start within the bound, which shares alone do not ensure", () => {
  const load = {
    sources: [
      { lane: 1, priority: -100, everyMs: 30 * second },
      // A single execution.
      { lane: 2, priority: 0, everyMs: 1e12 },
    ],
    runMs: 30 * second,
    untilMs: 5 * 60 * minute,
  };
  const startOfLow = (overdueAfterMs: number) =>
    simulate({ ...load, overdueAfterMs }).started.find(({ candidate }) => candidate.lane === 2)?.at;

  expect(startOfLow(Number.POSITIVE_INFINITY)).toBeUndefined();
  expect(startOfLow(15 * minute)).toBe(15 * minute + 30 * second);
});

test("no execution starts before those of the top class, even if many others are overdue", () => {
  const { started } = simulate({
    sources: [
      { lane: 1, priority: -500, everyMs: 5 * second },
      { lane: topLane, priority: 900, everyMs: 11 * minute },
    ],
    runMs: 30 * second,
    overdueAfterMs: 15 * minute,
    untilMs: 3 * 60 * minute,
  });

  const top = started.filter(({ candidate }) => candidate.lane === topLane);
  expect(top).toHaveLength(17);
  for (const { candidate, at } of top)
    expect(at - candidate.queuedAt.getTime()).toBeLessThanOrEqual(30 * second);
});

const anySource = fc.record({
  lane: fc.nat(3),
  priority: fc.integer({ min: -120, max: 120 }),
  everyMs: fc.integer({ min: 5, max: 600 }).map((seconds) => seconds * second),
});

test("under any endless load, only executions with an earlier place start before one whose bound has passed", () => {
  fc.assert(
    fc.property(fc.array(anySource, { minLength: 1, maxLength: 6 }), (sources) => {
      const overdueAfterMs = 3 * minute;
      const { started, waiting } = simulate({
        sources,
        runMs: 20 * second,
        overdueAfterMs,
        untilMs: 100 * minute,
      });
      const highest = Math.min(0, ...sources.map(({ priority }) => priority));
      const boundOf = ({ queuedAt, priority }: Candidate) =>
        queuedAt.getTime() +
        overdueAfterMs +
        delayOfPriorityMs(Math.max(0, priority) - highest) +
        windowMs;

      const all = [
        ...started,
        ...waiting.map((candidate) => ({ candidate, at: Number.POSITIVE_INFINITY })),
      ];
      for (const { candidate, at } of all) {
        const overtakers = started.filter(
          (other) =>
            other.at > boundOf(candidate) &&
            other.at < at &&
            other.candidate.place > candidate.place,
        );
        expect(overtakers).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

test("when the load ends, all waiting executions are started", () => {
  fc.assert(
    fc.property(fc.array(anySource, { minLength: 1, maxLength: 4 }), (sources) => {
      const { waiting } = simulate({
        sources,
        runMs: 1 * second,
        overdueAfterMs: 3 * minute,
        dryMs: 10 * minute,
        untilMs: 40 * minute,
      });

      expect(waiting).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
