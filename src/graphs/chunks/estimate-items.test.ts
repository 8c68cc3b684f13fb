import { describe, expect, test } from "vitest";
import { durationsOf, estimateItems } from "./estimate-items.ts";
import { readItems } from "./read-items.ts";

test("an item is expected to take its recent time, and a new item the median", () => {
  const history = new Map([
    ["a", 10],
    ["b", 500],
    ["c", 90],
  ]);

  expect(estimateItems(["a", "b", "c", "new"], history).at(-1)).toEqual({
    item: "new",
    estimateMs: 90,
  });
});

describe("the durations of the items of a batch", () => {
  const items = [
    { item: "a", estimateMs: 100 },
    { item: "b", estimateMs: 300 },
  ];

  test.each([
    { about: "is what the job says", said: { a: 10, b: 20 }, took: [10, 20] },
    { about: "is shared by the estimates where it says nothing", said: {}, took: [250, 750] },
    { about: "is no nonsense", said: { a: -5, b: "long", c: 3 }, took: [250, 750] },
    { about: "is no more than the batch's time", said: { a: 1e12 }, took: [250, 750] },
    {
      about: "is nobody's prototype",
      said: JSON.parse('{"__proto__": {"a": 1}}'),
      took: [250, 750],
    },
  ])("$about", ({ said, took }) => {
    expect(durationsOf(items, 1_000, said).map(({ ms }) => ms)).toEqual(took);
  });
});

describe("a list of items", () => {
  test.each([
    { about: "has one a line", text: "a\r\n\n  b c \n", items: ["a", "b c"] },
    { about: "may be JSON", text: ' ["a", "b\\tc"]', items: ["a", "b\tc"] },
    { about: "that names one twice has it once", text: "a\na\n", items: ["a"] },
  ])("$about", ({ text, items }) => {
    expect(readItems(text, "the list")).toEqual(items);
  });

  test.each([
    { about: "is empty", text: "\n\n" },
    { about: "is half a JSON list", text: '["a",' },
    { about: "has what is no text", text: "[1]" },
    { about: "has an item of two lines", text: '["a\\nb"]' },
    { about: "has an endless item", text: "x".repeat(2_000) },
  ])("that $about is refused", ({ text }) => {
    expect(() => readItems(text, "the list")).toThrow(/^the list /);
  });
});
