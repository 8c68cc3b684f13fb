import { expect, test } from "vitest";
import { chooseTrim, type KeptBlob, type KeptLayer } from "./choose-trim.ts";

const hour = 3_600_000;
const blob = (path: string, changedAtMs: number, links = 1): KeptBlob => ({
  path,
  sizeBytes: 100,
  links,
  changedAtMs,
});
const layer = (key: string, usedAtMs: number, inUse = false): KeptLayer => ({
  key,
  usedAtMs,
  inUse,
});

test("removes nothing below the limit", () => {
  expect(chooseTrim([blob("a", 0)], [layer("l", 0)], 100, hour)).toEqual({ blobs: [], layers: [] });
});

test("removes the least recently used until a tenth below the limit", () => {
  const blobs = [
    blob("new", 3),
    blob("old", 1),
    blob("middle", 2),
    ...[4, 5, 6, 7, 8, 9, 10].map((at) => blob(`${at}`, at)),
  ];

  const { blobs: chosen } = chooseTrim(blobs, [], 900, hour);

  expect(chosen.map(({ path }) => path)).toEqual(["old", "middle"]);
});

test("keeps blobs that a layer uses, and young ones", () => {
  const blobs = [blob("linked", 0, 2), blob("young", hour - 1), blob("free", 0)];

  expect(chooseTrim(blobs, [], 250, hour).blobs.map(({ path }) => path)).toEqual(["free"]);
});

test("removes the oldest quarter of idle layers when blobs are not enough", () => {
  const layers = [layer("used", 0, true), ...[4, 3, 2, 1].map((at) => layer(`${at}`, at))];

  const { layers: chosen } = chooseTrim([blob("linked", 0, 2)], layers, 50, hour);

  expect(chosen.map(({ key }) => key)).toEqual(["1"]);
});
