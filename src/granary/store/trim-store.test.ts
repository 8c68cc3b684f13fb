import { linkSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { modifiedAt } from "#cas/disk-blob-store.ts";
import type { Digest } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import { freshStore, keepResult, openStore, resultOf } from "./granary-store.fixture.ts";
import { resultFileName } from "./key-set.ts";
import type { OpenGranaryStore } from "./open-granary-store.ts";

const hour = 3_600_000;

function resultPath(directory: string, key: string): string {
  const name = resultFileName("p", "ccache", key);
  return join(directory, "results", name.slice(0, 2), name);
}

function setAge(directory: string, store: OpenGranaryStore, r: GranaryResult, hours: number) {
  const at = new Date(Date.now() - hours * hour);
  utimesSync(resultPath(directory, r.key), at, at);
  utimesSync(store.blobs.path(r.value), at, modifiedAt);
}

const block = (letter: string) => letter.repeat(4_096);

interface Before {
  readonly store: OpenGranaryStore;
  readonly directory: string;
  readonly kept: readonly GranaryResult[];
}

/** Five results of two blocks each, the first the oldest, in a store that has room for three and a half. */
async function fiveResults(
  before: (before: Before) => void | Promise<void> = () => {},
  isHeld: (digest: Digest) => boolean = () => false,
  onOpen: (store: OpenGranaryStore) => void = () => {},
) {
  const { store: roomy, directory } = await freshStore();
  const kept: GranaryResult[] = [];
  for (const [i, key] of ["a", "b", "c", "d", "e"].entries()) {
    const result = await keepResult(roomy, key, [block(key)]);
    setAge(directory, roomy, result, 10 - i);
    kept.push(result);
  }
  await before({ store: roomy, directory, kept });
  await roomy.stop();
  const store = await openStore({ directory, limitBytes: 7 * 4_096, isHeld });
  onOpen(store);
  const foundKeys = async () => {
    const found = await Promise.all(kept.map((r) => store.find("p", r)));
    return found.flatMap((r) => (r ? [r.key] : []));
  };
  return { store, directory, kept, foundKeys };
}

test("what was used least lately goes, blobs with it, until the store fits", async () => {
  const { store, kept, foundKeys } = await fiveResults(async ({ store: roomy, kept: [first] }) => {
    await roomy.find("p", first as GranaryResult);
  });

  await store.trim();

  expect(await foundKeys()).toEqual(["a", "d", "e"]);
  expect(await store.blobs.findMissing(kept.map((r) => r.value))).toHaveLength(2);
  expect(await store.usage()).toMatchObject({ results: 3, bytes: 6 * 4_096 });
});

test("what the outbox holds stays, and blobs linked from elsewhere cost nothing", async () => {
  const first = digestOf(Buffer.from(block("a")));
  const { store, foundKeys } = await fiveResults(
    ({ store: roomy, directory, kept: [, second] }) => {
      linkSync(roomy.blobs.path((second as GranaryResult).value), join(directory, "output"));
    },
    (digest) => digest.hash === first.hash,
  );

  await store.trim();

  expect(await foundKeys()).toEqual(["a", "b", "e"]);
});

test("blobs that no result names yet stay for ten minutes", async () => {
  const young = Buffer.from(block("x"));
  const { store, foundKeys } = await fiveResults(({ store: roomy }) =>
    roomy.blobs.put(digestOf(young), young),
  );

  await store.trim();

  expect(await store.blobs.findMissing([digestOf(young)])).toEqual([]);
  expect((await foundKeys()).length).toBeLessThan(4);
});

test("a trim that was killed between results and blobs is finished by the next", async () => {
  const { store: next, kept } = await fiveResults(async ({ store: roomy, kept: [a, b] }) => {
    // As it is then: results gone, their blobs still there.
    await roomy.forget("p", a as GranaryResult);
    await roomy.forget("p", b as GranaryResult);
  });
  const [first, second] = kept as [GranaryResult, GranaryResult];

  await next.trim();

  expect(await next.blobs.findMissing([first.value, second.value])).toHaveLength(2);
  for (const r of kept.slice(2)) expect(await next.find("p", r)).toEqual(r);
});

test("who is told during a trim that a result is here keeps it", async () => {
  const first = resultOf("a", [block("a")]);
  let opened: OpenGranaryStore | undefined;
  let found: Promise<GranaryResult | undefined> | undefined;
  // A trim asks this while it looks through the store.
  const { store } = await fiveResults(
    undefined,
    () => {
      found ??= opened?.find("p", first);
      return false;
    },
    (isOpen) => {
      opened = isOpen;
    },
  );

  await store.trim();

  expect(await found).toEqual(first);
  expect(await store.find("p", first)).toEqual(first);
  expect(await store.blobs.get(first.value)).toHaveLength(4_096);
});

test.each([
  { clock: "was ahead when they were used", hours: -48 },
  { clock: "has been set back by years", hours: -50_000 },
])("results go in the end though the clock $clock", async ({ hours }) => {
  const { store, directory, kept, foundKeys } = await fiveResults((before) => {
    for (const r of before.kept.slice(0, 2)) setAge(before.directory, before.store, r, hours);
  });

  await store.trim();
  expect(await foundKeys()).toEqual(expect.arrayContaining(["a", "b"]));
  // They are of now from then on, and age like all others.
  for (const r of kept.slice(0, 2)) {
    const { mtimeMs } = statSync(resultPath(directory, r.key));
    expect(Math.abs(Date.now() - mtimeMs)).toBeLessThan(60_000);
  }
});

test("an executable twin counts, and goes with its blob", async () => {
  const { store, directory, kept } = await fiveResults(async (before) => {
    const [result] = before.kept as [GranaryResult];
    const to = join(before.directory, "tool");
    await before.store.placeAt(result.value, to, { executable: true, isReadOnly: true });
    rmSync(to);
    await before.store.forget("p", result);
    const at = new Date(Date.now() - 100 * hour);
    utimesSync(before.store.blobs.path(result.value), at, modifiedAt);
    utimesSync(`${before.store.blobs.path(result.value)}.x`, at, modifiedAt);
  });
  const [first] = kept as [GranaryResult];
  await store.trim();

  const shard = join(directory, "blobs", first.value.hash.slice(0, 2));
  expect(readdirSync(shard)).not.toContain(`${first.value.hash}.x`);
});
