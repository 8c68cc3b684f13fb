import { expect, test } from "vitest";
import { judgeStore, type StoreSeen, type StoreVerdict } from "./judge-store.ts";

const ours = "a5b1f2f4-0d4c-4a5e-9a53-6a1f4b1d2c3e";
const others = "0b7e8d9a-3f52-4f0f-8a47-1d2c3e4f5a6b";
const shared = { farm: ours, hasStore: true, owner: undefined, isAlone: false, adopt: false };

const cases: readonly [string, Partial<StoreSeen>, StoreVerdict][] = [
  ["the farm's store", { owner: ours }, { kind: "ours" }],
  ["the first store of a farm", { hasStore: false }, { kind: "claim" }],
  ["a store beside the farm's", {}, { kind: "refuse", why: "not the farm's" }],
  ["one that was emptied, of a farm in one directory", { isAlone: true }, { kind: "claim" }],
  ["another farm's", { owner: others }, { kind: "refuse", why: "another farm's" }],
  [
    "another farm's, for a new database",
    { owner: others, hasStore: false },
    { kind: "refuse", why: "another farm's" },
  ],
  [
    "another farm's, in one directory with the database",
    { owner: others, isAlone: true },
    { kind: "refuse", why: "another farm's" },
  ],
  ["another farm's that is to be adopted", { owner: others, adopt: true }, { kind: "claim" }],
  ["an empty one that is to be adopted", { adopt: true }, { kind: "claim" }],
];

test.each(cases)("%s", (_, seen, verdict) => {
  expect(judgeStore({ ...shared, ...seen })).toEqual(verdict);
});
