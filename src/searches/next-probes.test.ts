import { describe, expect, test } from "vitest";
import { type BisectStep, expectedRounds, type KnownRange, nextProbes } from "./next-probes.ts";

type Answer = "good" | "bad" | "skipped";

/** Bisects a history whose commits answer like `test`; counts rounds and probes. */
function bisect(last: number, parallel: number, test: (position: number) => Answer) {
  const known = new Map<number, Answer>();
  let probes = 0;
  for (let rounds = 0; ; rounds++) {
    const step = nextProbes({ last, known }, parallel);
    if (step.kind !== "probe") return { step, rounds, probes };
    if (new Set(step.positions).size !== step.positions.length) throw new Error("asked twice");
    if (step.positions.length === 0 || step.positions.length > parallel)
      throw new Error("asked for too few or too many");
    for (const position of step.positions) {
      if (known.has(position) || position < 1 || position >= last)
        throw new Error(`asked for ${position} in vain`);
      probes += 1;
      known.set(position, test(position));
    }
  }
}

describe("in a history that became bad once", () => {
  test("the first bad commit is found within the expected rounds, wherever it is", () => {
    for (let last = 1; last <= 66; last++) {
      for (const parallel of [1, 2, 3, 5, 8]) {
        const most = expectedRounds(last, parallel);
        for (let first = 1; first <= last; first++) {
          const { step, rounds, probes } = bisect(last, parallel, (at) =>
            at >= first ? "bad" : "good",
          );

          expect(step).toEqual({ kind: "found", position: first });
          expect({ rounds, probes }).toSatisfy(() => rounds <= most && probes <= most * parallel);
        }
      }
    }
  });

  test("a million commits take twenty rounds, or five with fifteen probes at once", () => {
    expect(expectedRounds(1_000_000, 1)).toBe(20);
    expect(bisect(1_000_000, 1, (at) => (at >= 654_321 ? "bad" : "good"))).toMatchObject({
      step: { kind: "found", position: 654_321 },
    });
    expect(expectedRounds(1_000_000, 15)).toBe(5);
  });

  test("nothing needs a probe when the bad commit follows the good one", () => {
    expect(bisect(1, 4, () => "good")).toMatchObject({ probes: 0, rounds: 0 });
    expect(expectedRounds(1, 4)).toBe(0);
  });
});

describe("with commits that cannot be tested", () => {
  test("whichever they are, the result is correct, or contains the correct commit", () => {
    const last = 9;
    for (let mask = 0; mask < 2 ** (last - 1); mask++) {
      const isSkipped = (at: number) => at < last && (mask & (1 << (at - 1))) !== 0;
      for (const parallel of [1, 2, 4]) {
        for (let first = 1; first <= last; first++) {
          const { step } = bisect(last, parallel, (at) =>
            isSkipped(at) ? "skipped" : at >= first ? "bad" : "good",
          );

          expect(range(step)).toSatisfy(([from, to]: [number, number]) => {
            if (from > first || to < first) return false;
            // Only commits that cannot be distinguished are left.
            for (let at = from; at < to; at++) if (!isSkipped(at)) return false;
            return true;
          });
        }
      }
    }
  });

  test("a long series of them is passed in a few rounds", () => {
    const isBroken = (at: number) => at >= 2_000 && at < 3_000;
    const { step, rounds } = bisect(5_000, 1, (at) =>
      isBroken(at) ? "skipped" : at >= 4_321 ? "bad" : "good",
    );

    expect(step).toEqual({ kind: "found", position: 4_321 });
    expect(rounds).toBeLessThan(40);
  });
});

test("in a history that changed several times, one of the changes is found", () => {
  const last = 10;
  for (let mask = 0; mask < 2 ** (last - 1); mask++) {
    const answer = (at: number): Answer =>
      at === last || (at > 0 && (mask & (1 << (at - 1))) !== 0) ? "bad" : "good";
    for (const parallel of [1, 2, 3]) {
      const { step } = bisect(last, parallel, answer);

      if (step.kind !== "found") throw new Error(step.kind);
      expect([answer(step.position - 1), answer(step.position)]).toEqual(["good", "bad"]);
    }
  }
});

describe("known results", () => {
  test("narrow the range before anything is requested", () => {
    const known: KnownRange["known"] = new Map([
      [10, "good"],
      [12, "bad"],
    ]);

    expect(nextProbes({ last: 1_000, known }, 4)).toEqual({ kind: "probe", positions: [11] });
  });

  test("that are still running are awaited, unless they no longer matter", () => {
    const under: KnownRange["known"] = new Map([[50, "asked"]]);
    const beyond: KnownRange["known"] = new Map([
      [50, "asked"],
      [40, "bad"],
    ]);

    expect(nextProbes({ last: 100, known: under }, 1)).toEqual({ kind: "wait" });
    expect(nextProbes({ last: 100, known: beyond }, 1)).toEqual({ kind: "probe", positions: [20] });
  });
});

function range(step: BisectStep): [number, number] {
  switch (step.kind) {
    case "found":
      return [step.position, step.position];
    case "undecidable":
      return [step.from, step.to];
    case "probe":
    case "wait":
      throw new Error(step.kind);
  }
}
