import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measurePairs, pairsWanted } from "./measure-pairs.ts";
import { openWorkshop, suiteOf, theCase, type Workshop } from "./measuring.fixture.ts";

const signal = () => new AbortController().signal;
const rate = {
  rate: {
    take: { from: "output", pattern: "^rate (\\d+)" },
    nature: "noisy",
    unit: "per-second",
    better: "higher",
  },
} as const;

describe("the number of pairs to measure next", () => {
  const suite = suiteOf({ metrics: { ...rate, other: { ...rate.rate } } });
  const rows = (count: number, child: number, parent: number, spread = 0) =>
    Array.from({ length: count }, (_, i) => ({
      parentFirst: i % 2 === 0,
      child: { rate: child + (i % 3) * spread },
      parent: { rate: parent + ((i + 1) % 3) * spread },
    }));
  const wanted = (known: ReturnType<typeof rows>, done = known.length, deciding = ["rate"]) =>
    pairsWanted(known, done, suite, deciding, () => undefined);

  test.each([
    ["the first round, at first", rows(0, 0, 0), 5],
    ["the rest of a round that was broken off", rows(3, 100, 100), 2],
    ["none when nothing changed, clearly", rows(5, 100, 100), 0],
    ["none when a change is clear", rows(10, 100, 150, 1), 0],
    ["more while it scatters", rows(5, 100, 100, 30), 5],
    ["none after the last round, clear or not", rows(20, 100, 100, 30), 0],
  ])("%s", (_, known, expected) => {
    expect(wanted(known)).toBe(expected);
  });

  test("a rerun that shows a change continues to the last round; another rerun stops", () => {
    const rerun = (known: ReturnType<typeof rows>) =>
      pairsWanted(known, known.length, suite, ["rate"], () => undefined, true);

    expect(rerun(rows(10, 100, 150, 1))).toBe(10);
    expect(rerun(rows(20, 100, 150, 1))).toBe(0);
    expect(rerun(rows(5, 100, 100))).toBe(0);
  });

  test("pairs with unknown figures count for the rounds, but are not judged", () => {
    expect(wanted(rows(0, 0, 0), 5)).toBe(5);
    expect(wanted(rows(0, 0, 0), 7)).toBe(3);
    expect(wanted(rows(0, 0, 0), 20)).toBe(0);
  });

  test("a metric that no process reports requests no more pairs", () => {
    expect(wanted(rows(5, 100, 100), 5, ["rate", "other"])).toBe(0);
  });
});

describe("measures pairs", () => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop();
  });
  afterAll(() => shop.close());
  const tool = (name: string, line: string) =>
    shop.artifact(name, { run: `#!/bin/sh\n${line}\n` }, "run");

  test("until the result is clear, and reports each before the next", async () => {
    const told: number[] = [];
    let open = 0;

    const pairs = await measurePairs({
      suite: suiteOf({ metrics: rate }),
      case: theCase,
      child: await tool("child", "echo rate 100"),
      parent: await tool("parent", "echo rate 100"),
      place: shop.place,
      from: 0,
      seed: "a run",
      signal: signal(),
      async onPair({ pair }) {
        expect(++open).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        told.push(pair);
        open--;
      },
    });

    expect(told).toEqual([1, 2, 3, 4, 5]);
    expect(pairs.map(({ child, parent }) => [child["rate"], parent["rate"]])).toEqual(
      Array(5).fill([100, 100]),
    );
  });

  test("continues after stored pairs, and measures only for doubts", async () => {
    const both = {
      suite: suiteOf({ metrics: { ...rate, other: { ...rate.rate } } }),
      case: theCase,
      child: await tool("child", "echo rate 200"),
      parent: await tool("parent", "echo rate 100"),
      place: shop.place,
      seed: "a run",
      signal: signal(),
      onPair() {},
    };

    const rest = await measurePairs({ ...both, from: 3, doubts: [{ metric: "rate" }] });
    const none = await measurePairs({ ...both, from: 0, doubts: [{ metric: "instructions" }] });

    expect(rest.map(({ pair }) => pair).slice(0, 2)).toEqual([4, 5]);
    expect(rest[0]).toMatchObject({ child: { rate: 200 }, parent: { rate: 100 } });
    expect(none).toEqual([]);
  });

  test("a failing side ends the measurement, with the reason", async () => {
    const pairs = measurePairs({
      suite: suiteOf({ metrics: rate }),
      case: theCase,
      child: await tool("child", "exit 3"),
      parent: await tool("parent", "echo rate 1"),
      place: shop.place,
      from: 0,
      seed: "a run",
      signal: signal(),
      onPair() {},
    });

    await expect(pairs).rejects.toThrow(/exit code 3/);
  });
});
