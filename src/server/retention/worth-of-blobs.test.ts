import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Digest } from "#core/digest.ts";
import {
  type Cut,
  goes,
  type Hold,
  leastIdleMs,
  leastIdleOf,
  stepOf,
  Worth,
  weightOf,
  youngMs,
} from "./worth-of-blobs.ts";

const hourMs = 60 * 60_000;
const mebibyte = 1024 ** 2;

const digest = (name: string, sizeBytes: number): Digest =>
  Digest.parse({ hash: createHash("sha256").update(name).digest("hex"), sizeBytes });

test.each([
  { size: 0, weight: 1 },
  { size: 1_000, weight: 1 },
  { size: mebibyte, weight: 1 },
  { size: 16 * mebibyte, weight: 2 },
  { size: 256 * mebibyte, weight: 3 },
  { size: 4_096 * mebibyte, weight: 4 },
  { size: 2 ** 50, weight: 4 },
])("a blob of $size bytes ages $weight times as fast", ({ size, weight }) => {
  expect(weightOf(size)).toBeCloseTo(weight);
});

describe("a blob's step", () => {
  test("is 0 for 3 hours, whatever its size", () => {
    expect(stepOf(3 * hourMs, 2 ** 40)).toBe(0);
    expect(stepOf(youngMs, 1)).toBe(1);
  });

  test("is bounded", () => {
    expect(stepOf(1e15, 2 ** 40)).toBe(stepOf(1e16, 2 ** 40));
  });

  test("never says less of how long it was unused than is true", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: youngMs, max: 400 * 24 * hourMs }),
        fc.integer({ min: 0, max: 2 ** 40 }),
        (idleMs, size) => {
          expect(leastIdleMs(stepOf(idleMs, size))).toBeLessThanOrEqual(idleMs);
        },
      ),
    );
  });
});

interface Kept {
  readonly digest: Digest;
  readonly idleMs: number;
  readonly hold: Hold | undefined;
}

function cutOf(kept: readonly Kept[], excess: number): Cut {
  const worth = new Worth();
  for (const {
    digest: { sizeBytes },
    idleMs,
    hold,
  } of kept)
    worth.add(sizeBytes, idleMs, hold);
  return worth.cut(excess);
}

const going = (kept: readonly Kept[], cut: Cut) =>
  kept.filter((each) => goes(cut, each.digest, each.idleMs, each.hold));

const sizes = (kept: readonly Kept[]) => kept.reduce((sum, each) => sum + each.digest.sizeBytes, 0);

describe("what goes", () => {
  const of = (name: string, sizeBytes: number, hours: number, hold?: Hold): Kept => ({
    digest: digest(name, sizeBytes),
    idleMs: hours * hourMs,
    hold,
  });

  test.each<{ why: string; kept: readonly Kept[]; excess: number; gone: readonly number[] }>([
    {
      why: "the longest unused goes first",
      kept: [of("a", 100, 5), of("b", 100, 50), of("c", 100, 20)],
      excess: 100,
      gone: [1],
    },
    {
      why: "a large one goes before a small one that is a little older",
      kept: [of("a", 1_000, 30), of("b", 16 * mebibyte, 20)],
      excess: 500,
      gone: [1],
    },
    {
      why: "use counts more than size",
      kept: [of("a", 1_000, 300), of("b", 4_096 * mebibyte, 20)],
      excess: 500,
      gone: [0],
    },
    {
      why: "what is young stays, however much is to go",
      kept: [of("a", 100, 2.9), of("b", 100, 4)],
      excess: 1_000,
      gone: [1],
    },
    {
      why: "what is lightly held goes when nothing else is left",
      kept: [of("a", 100, 90, "light"), of("b", 100, 40, "light"), of("c", 100, 4)],
      excess: 150,
      gone: [0, 2],
    },
    {
      why: "what is firmly held never goes",
      kept: [of("a", 100, 900, "firm")],
      excess: 100,
      gone: [],
    },
    { why: "nothing goes where nothing is to go", kept: [of("a", 100, 900)], excess: 0, gone: [] },
  ])("$why", ({ kept, excess, gone }) => {
    const found = going(kept, cutOf(kept, excess));
    expect(found.map((each) => kept.indexOf(each))).toEqual(gone);
  });

  test("of a store that was copied, only as much goes as must", () => {
    const kept = Array.from({ length: 4_000 }, (_, i) => of(`blob ${i}`, 1_000, 48));

    const gone = going(kept, cutOf(kept, 400_000)).length;

    expect(gone).toBeGreaterThan(330);
    expect(gone).toBeLessThan(470);
  });

  test("holds for any store: nothing held or young, nothing worth more than what stays, and enough", () => {
    const someBlob = fc.record({
      sizeBytes: fc.integer({ min: 1, max: 64 * mebibyte }),
      idleMs: fc.integer({ min: 0, max: 60 * 24 * hourMs }),
      hold: fc.constantFrom<(Hold | undefined)[]>(undefined, undefined, undefined, "light", "firm"),
    });
    fc.assert(
      fc.property(
        fc.array(someBlob, { maxLength: 60 }),
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        (blobs, share) => {
          const kept = blobs.map(({ sizeBytes, ...rest }, i) => ({
            digest: digest(`blob ${i}`, sizeBytes),
            ...rest,
          }));
          const excess = Math.round(sizes(kept) * share);
          const cut = cutOf(kept, excess);
          const gone = going(kept, cut);
          const stays = kept.filter((each) => !gone.includes(each));
          const step = ({ digest: { sizeBytes }, idleMs }: Kept) => stepOf(idleMs, sizeBytes);

          for (const each of gone) {
            expect(each.hold).not.toBe("firm");
            expect(each.idleMs).toBeGreaterThanOrEqual(Math.max(youngMs, leastIdleOf(cut)));
          }
          for (const hold of [undefined, "light"] as const) {
            const best = Math.max(0, ...stays.filter((each) => each.hold === hold).map(step));
            const worst = gone.filter((each) => each.hold === hold).map(step);
            // Within one step, the choice is random.
            for (const each of worst) expect(each).toBeGreaterThanOrEqual(best);
          }
          const mayGo = kept.filter((each) => each.hold !== "firm" && step(each) > 0);
          expect(sizes(gone)).toBeGreaterThanOrEqual(Math.min(excess, sizes(mayGo)));
          expect(cut.shortByBytes).toBe(Math.max(0, excess - sizes(mayGo)));
        },
      ),
    );
  });
});
