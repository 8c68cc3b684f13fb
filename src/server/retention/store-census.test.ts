import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { namespaceOf, ownNamespace } from "#cas/namespaces/namespace.ts";
import { digestFrom } from "#core/digest.ts";
import { StoreCensus, StoreCounts } from "./store-census.ts";

const now = new Date("2026-11-27T12:00:00Z");
const hourMs = 60 * 60_000;
const blob = (name: string, hours: number, bytes = 1_000, namespace = ownNamespace) => ({
  namespace,
  digest: digestFrom("sha256", digestOf(Buffer.from(name)).hash, bytes),
  lastUsedAt: new Date(now.getTime() - hours * hourMs),
});

test("counts the blobs of each project by their time without use, the largest project first", () => {
  const census = new StoreCensus(now);
  const team = namespaceOf("team");
  census.add(blob("a", 1, 10), undefined);
  census.add(blob("b", 5, 20), undefined);
  census.add(blob("c", 30 * 24 + 1, 1_000, team), undefined);

  expect(census.counts()).toMatchObject({
    at: now.toISOString(),
    projects: [
      { directory: team, blobs: 1, bytes: 1_000, idleBytes: [0, 0, 0, 0, 1_000] },
      { directory: "", blobs: 2, bytes: 30, idleBytes: [10, 20, 0, 0, 0] },
    ],
  });
});

test("names what is removed next: by use and size, then what people may want, and nothing that is needed", () => {
  const census = new StoreCensus(now);
  const old = blob("old", 200);
  const large = blob("large", 60, 1024 ** 3);
  const newer = blob("newer", 50);
  const wanted = blob("wanted", 900);
  census.add(wanted, "light");
  census.add(newer, undefined);
  census.add(blob("needed", 900), "firm");
  census.add(blob("young", 1), undefined);
  census.add(old, undefined);
  census.add(large, undefined);

  const { next } = StoreCounts.parse(census.counts());

  expect(next.map(({ digest }) => digest.split("/")[0])).toEqual(
    [large, old, newer, wanted].map(({ digest }) => digest.hash),
  );
  expect(next.map(({ isHeld }) => isHeld)).toEqual([false, false, false, true]);
});

test("keeps the 100 blobs that are removed first, in whatever order they are listed", () => {
  const census = new StoreCensus(now);
  for (let i = 0; i < 500; i++) census.add(blob(`b${i}`, 10 + ((i * 37) % 500)), undefined);

  const { next } = census.counts();

  const hours = next.map(({ lastUsedAt }) => (now.getTime() - Date.parse(lastUsedAt)) / hourMs);
  expect(hours.length).toBe(100);
  expect(Math.min(...hours)).toBe(410);
});
