import { expect, test } from "vitest";
import { chooseEvictions } from "./choose-evictions.ts";

const old = { key: "old-2", layers: ["base", "a"], usedAtMs: 1_000 };
const recent = { key: "recent-2", layers: ["base", "b"], usedAtMs: 2_000 };
const layers = [
  { hex: "base", bytes: 100, usedAtMs: 0 },
  { hex: "a", bytes: 10, usedAtMs: 0 },
  { hex: "b", bytes: 20, usedAtMs: 0 },
];
const rules = {
  nowMs: 10_000,
  storeBytes: 130,
  isUsable: (key: string) => key.endsWith("-2"),
  abandonedAfterMs: 5_000,
};

test.each([
  { what: "nothing within the limit", stored: {}, rules: {}, roots: [], removed: [] },
  {
    what: "the image that was not used for longest, with the layers that only it has",
    stored: {},
    rules: { storeBytes: 125 },
    roots: ["old-2"],
    removed: ["a"],
  },
  {
    what: "more images until the limit is reached, and then shared layers, too",
    stored: {},
    rules: { storeBytes: 50 },
    roots: ["old-2", "recent-2"],
    removed: ["base", "a", "b"],
  },
  {
    what: "another image when the oldest is in use",
    stored: { inUse: new Set(["old-2"]) },
    rules: { storeBytes: 125 },
    roots: ["recent-2"],
    removed: ["b"],
  },
  {
    what: "an image of another format, also within the limit",
    stored: { roots: [{ ...old, key: "old-1" }, recent] },
    rules: {},
    roots: ["old-1"],
    removed: ["a"],
  },
  {
    what: "a layer of a failed pull after some time",
    stored: { layers: [...layers, { hex: "left", bytes: 0, usedAtMs: 4_000 }] },
    rules: {},
    roots: [],
    removed: ["left"],
  },
  {
    what: "no layer of a pull that may be in progress",
    stored: { layers: [...layers, { hex: "new", bytes: 0, usedAtMs: 6_000 }] },
    rules: {},
    roots: [],
    removed: [],
  },
  {
    what: "no layer that a pull uses",
    stored: {
      layers: [...layers, { hex: "left", bytes: 0, usedAtMs: 4_000 }],
      inUse: new Set(["left"]),
    },
    rules: {},
    roots: [],
    removed: [],
  },
])("removes $what", ({ stored, rules: changed, roots, removed }) => {
  const all = { roots: [recent, old], layers, inUse: new Set<string>(), ...stored };

  expect(chooseEvictions(all, { ...rules, ...changed })).toEqual({ roots, layers: removed });
});
