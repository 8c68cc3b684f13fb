import fc from "fast-check";
import { expect, test } from "vitest";
import { ended, GiB, history, ran, seedClasses, situation } from "../estimate/runs.fixture.ts";
import type { KeyHistory } from "../key-history.ts";
import { defaultSettings, SizeClassSettings } from "../settings.ts";
import type { EndedRun, Situation } from "../strategy.ts";
import { grangeStrategy } from "./grange.ts";

const grange = grangeStrategy(defaultSettings);
const hour = 3_600_000;

const sizeClass = fc.constantFrom(1, 2, 4, 8);
const work = fc.record({
  serialMs: fc.integer({ min: 1, max: 600_000 }),
  parallelMs: fc.integer({ min: 0, max: 600_000 }),
  width: fc.constantFrom(1, 2, 4, 8, 32),
  peakMemoryBytes: fc.integer({ min: 1e6, max: 31 * GiB }),
});
const success = fc.tuple(work, sizeClass, fc.nat(1_000)).map((of) => ran(...of));
const failure = fc
  .tuple(
    fc.constantFrom("failed", "timed_out", "out_of_memory"),
    sizeClass,
    fc.nat(1_000),
    fc.record({
      durationMs: fc.nat(hour),
      cpuMs: fc.nat(hour),
      peakMemoryBytes: fc.integer({ min: 0, max: 32 * GiB }),
    }),
  )
  .map((of) => ended(...of));
const runs = fc.array(fc.oneof({ weight: 4, arbitrary: success }, failure), { maxLength: 40 });
const histories: fc.Arbitrary<KeyHistory[]> = fc
  .tuple(runs, runs, runs)
  .map(([action, target, mnemonic]) => [
    history("action", action),
    history("target", target),
    history("mnemonic", mnemonic),
  ]);
const waits = fc.tuple(...seedClasses.map(() => fc.oneof(fc.constant(0), fc.nat(600_000))));
const offered = fc
  .tuple(waits, fc.subarray([0, 1, 2, 3], { minLength: 1 }))
  .map(([waitsMs, places]) =>
    seedClasses
      .map((each, i) => ({ ...each, waitMs: waitsMs[i] ?? 0 }))
      .filter((_, i) => places.includes(i)),
  );
const anything: fc.Arbitrary<Situation> = fc
  .tuple(histories, offered, fc.integer({ min: 1_000, max: hour }))
  .map(([known, classes, timeoutMs]) => situation(known, { classes, timeoutMs }));

function copied(given: Situation): Situation {
  return { ...given, histories: given.histories.map((each) => ({ ...each })) };
}

test("chooses an offered class, within the requested time, and hedges only to larger ones", () => {
  fc.assert(
    fc.property(anything, (given) => {
      const choice = grange.choose(given);

      expect(given.classes.map((each) => each.sizeClass)).toContain(choice.sizeClass);
      expect(choice.timeoutMs).toBeGreaterThan(0);
      expect(choice.timeoutMs).toBeLessThanOrEqual(given.timeoutMs);
      expect(choice.expectedMs).toBeGreaterThan(0);
      const isLast = choice.sizeClass === given.classes.at(-1)?.sizeClass;
      expect(isLast && choice.timeoutMs < given.timeoutMs).toBe(false);
      expect(choice.hedge?.sizeClass ?? 9).toBeGreaterThan(choice.sizeClass);
      expect(choice.alternatives).toHaveLength(given.classes.length);
      for (const each of choice.alternatives) {
        expect(each.cost).toBeGreaterThanOrEqual(0);
        expect(each.risk).toBeGreaterThanOrEqual(0);
        expect(each.risk).toBeLessThanOrEqual(1);
      }
      expect(choice.reason.text).not.toMatch(/NaN|undefined|Infinity/);
    }),
  );
});

test("the same situation gives the same choice, whatever was chosen before", () => {
  fc.assert(
    fc.property(anything, anything, (given, other) => {
      const first = grange.choose(given);
      grange.choose(other);

      expect(grange.choose(copied(given))).toEqual(first);
    }),
  );
});

test("prices in another unit give the same choice", () => {
  fc.assert(
    fc.property(anything, fc.integer({ min: -10, max: 10 }), (given, power) => {
      const classes = given.classes.map((each) => ({ ...each, price: each.price * 2 ** power }));

      const { sizeClass: chosen, hedge, timeoutMs } = grange.choose({ ...given, classes });

      expect({ chosen, hedge, timeoutMs }).toEqual({
        chosen: grange.choose(given).sizeClass,
        hedge: grange.choose(given).hedge,
        timeoutMs: grange.choose(given).timeoutMs,
      });
    }),
  );
});

test("a class that was not chosen is not chosen for a longer wait there", () => {
  fc.assert(
    fc.property(anything, fc.nat(3), fc.nat(600_000), (given, place, moreMs) => {
      const before = grange.choose(given).sizeClass;
      const longer = given.classes[place % given.classes.length]?.sizeClass;
      if (longer === undefined || longer === before) return;
      const classes = given.classes.map((each) =>
        each.sizeClass === longer ? { ...each, waitMs: each.waitMs + moreMs } : each,
      );

      expect(grange.choose({ ...given, classes }).sizeClass).not.toBe(longer);
    }),
  );
});

/** One run on the largest class gives all information, so there is nothing to explore. */
const seen = fc.tuple(work, fc.integer({ min: 1, max: 8 })).map(([each, count]) => ({
  of: each,
  known: history(
    "action",
    Array.from({ length: count }, (_, i) => ran(each, 8, i)),
  ),
  count,
}));

test("a higher price of waiting never gives a slower class", () => {
  fc.assert(
    fc.property(
      seen,
      fc.double({ min: 0, max: 20, noNaN: true }),
      fc.double({ min: 0, max: 20, noNaN: true }),
      ({ known }, one, other) => {
        const expectedAt = (priceOfDelay: number) => {
          const strategy = grangeStrategy(SizeClassSettings.parse({ priceOfDelay }));
          const { reason, sizeClass: chosen, alternatives } = strategy.choose(situation([known]));
          fc.pre(
            reason.kind === "cheapest" && alternatives.every(({ risk }) => (risk ?? 0) < 0.01),
          );
          return alternatives.find((each) => each.sizeClass === chosen)?.expectedMs ?? 0;
        };

        expect(expectedAt(Math.max(one, other))).toBeLessThanOrEqual(
          expectedAt(Math.min(one, other)),
        );
      },
    ),
  );
});

test("a higher need of memory never gives a smaller class", () => {
  fc.assert(
    fc.property(seen, fc.double({ min: 1, max: 30, noNaN: true }), ({ of, count }, factor) => {
      const classWith = (peakMemoryBytes: number) => {
        const all = Array.from({ length: count }, (_, i) => ran({ ...of, peakMemoryBytes }, 8, i));
        const { reason, sizeClass: chosen } = grange.choose(situation([history("action", all)]));
        fc.pre(reason.kind === "cheapest");
        return chosen;
      };
      const more = Math.min(of.peakMemoryBytes * factor, 31 * GiB);

      expect(classWith(more)).toBeGreaterThanOrEqual(classWith(of.peakMemoryBytes));
    }),
  );
});

const anEnd: fc.Arbitrary<EndedRun> = fc.record({
  sizeClass,
  end: fc.constantFrom("failed", "timed_out", "out_of_memory"),
  durationMs: fc.nat(hour),
  timeoutMs: fc.integer({ min: 1, max: hour }),
  cpuMs: fc.option(fc.nat(hour), { nil: undefined }),
  peakMemoryBytes: fc.option(fc.nat(32 * GiB), { nil: undefined }),
});

test("after a failed run it moves up or ends, and always ends on the largest class", () => {
  fc.assert(
    fc.property(anything, anEnd, (given, last) => {
      const next = grange.afterwards(given, grange.choose(given), [last]);

      if (next.kind === "final") return;
      expect(next.choice.sizeClass).toBeGreaterThan(last.sizeClass);
      expect(next.choice.timeoutMs).toBeLessThanOrEqual(given.timeoutMs);
    }),
  );
});

test("a run that lacked memory or time is never final below the largest class", () => {
  fc.assert(
    fc.property(anything, anEnd, (given, last) => {
      fc.pre(last.end !== "failed" && last.sizeClass < (given.classes.at(-1)?.sizeClass ?? 0));

      expect(grange.afterwards(given, grange.choose(given), [last]).kind).toBe("again");
    }),
  );
});
