import { expect, test } from "vitest";
import { afterFailure } from "./after-batch.ts";

const items = (failures: number, ...names: readonly string[]) =>
  names.map((item) => ({ item, failures }));

test.each([
  {
    about: "in halves",
    of: items(1, "a", "b", "c"),
    retries: 1,
    again: [["a", "b"], ["c"]],
    failed: [],
  },
  {
    about: "alone, while its budget lasts",
    of: items(1, "a"),
    retries: 1,
    again: [["a"]],
    failed: [],
  },
  {
    about: "never more, when it is used up",
    of: items(2, "a"),
    retries: 1,
    again: [],
    failed: ["a"],
  },
  {
    about: "not at all without a budget",
    of: items(1, "a", "b"),
    retries: 0,
    again: [],
    failed: ["a", "b"],
  },
  {
    about: "in halves, however often it failed in company",
    of: items(9, "a", "b"),
    retries: 1,
    again: [["a"], ["b"]],
    failed: [],
  },
])("what failed is tried again $about", ({ of, retries, again, failed }) => {
  expect(afterFailure(of, retries)).toEqual({ again, failed });
});

test("whichever items are bad, each of them is given up, and no other", () => {
  for (let bad = 0; bad < 256; bad++) {
    const all = Array.from({ length: 8 }, (_, n) => ({ item: `${n}`, failures: 0 }));
    const isBad = ({ item }: { readonly item: string }) => ((bad >> Number(item)) & 1) === 1;
    const failures = new Map<string, number>();
    const done: string[] = [];
    const given: string[] = [];
    const batches = [all.map(({ item }) => item)];
    for (const batch of batches) {
      if (!batch.some((item) => isBad({ item }))) {
        done.push(...batch);
        continue;
      }
      for (const item of batch) failures.set(item, (failures.get(item) ?? 0) + 1);
      const { again, failed } = afterFailure(
        batch.map((item) => ({ item, failures: failures.get(item) ?? 0 })),
        2,
      );
      given.push(...failed);
      batches.push(...again.map((group) => [...group]));
    }

    expect(given.toSorted()).toEqual(all.filter(isBad).map(({ item }) => item));
    expect(done.length + given.length).toBe(8);
  }
});
