import { linkSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { modifiedAt } from "#cas/disk/disk-layout.ts";
import type { Digest } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import { freshStore, keepResult, openStore, resultOf } from "./granary-store.fixture.ts";
import type { OpenGranaryStore } from "./open-granary-store.ts";

const hour = 3_600_000;

/** Returns a clock that a test can set to any time. */
function clockAt(startMs: number) {
  let atMs = startMs;
  return {
    now: () => new Date(atMs),
    set(toMs: number) {
      atMs = toMs;
    },
  };
}

const block = (letter: string) => letter.repeat(4_096);

interface Before {
  readonly store: OpenGranaryStore;
  readonly directory: string;
  readonly kept: readonly GranaryResult[];
  readonly clock: ReturnType<typeof clockAt>;
}

/** Creates five results of a block each, the oldest first, in a store with space for three and a half. */
async function fiveResults(
  before: (before: Before) => void | Promise<void> = () => {},
  isHeld: (digest: Digest) => boolean = () => false,
  onOpen: (store: OpenGranaryStore) => void = () => {},
) {
  const nowMs = Date.now();
  const clock = clockAt(nowMs);
  const { store: roomy, directory } = await freshStore({ clock });
  const kept: GranaryResult[] = [];
  for (const [i, key] of ["a", "b", "c", "d", "e"].entries()) {
    clock.set(nowMs - (10 - i) * hour);
    kept.push(await keepResult(roomy, key, [block(key)]));
  }
  const each = (await roomy.usage()).bytes / 5;
  clock.set(nowMs);
  await before({ store: roomy, directory, kept, clock });
  await roomy.stop();
  clock.set(nowMs);
  const store = await openStore({ directory, limitBytes: Math.round(each * 3.5), isHeld, clock });
  onOpen(store);
  const foundKeys = async () => {
    const found = await Promise.all(kept.map((r) => store.find("p", r)));
    return found.flatMap((r) => (r ? [r.key] : []));
  };
  return { store, directory, kept, foundKeys, each, clock };
}

test("the least recently used is removed, with its blobs, until the store fits", async () => {
  const { store, kept, foundKeys, each } = await fiveResults(
    async ({ store: roomy, kept: [first] }) => {
      await roomy.find("p", first as GranaryResult);
    },
  );

  await store.trim();

  expect(await foundKeys()).toEqual(["a", "d", "e"]);
  expect(await store.blobs.findMissing(kept.map((r) => r.value))).toHaveLength(2);
  expect(await store.usage()).toMatchObject({ results: 3, bytes: each * 3 });
});

test("data that the outbox holds stay, and blobs linked from elsewhere do not count", async () => {
  const first = digestOf(Buffer.from(block("a")));
  const { store, foundKeys } = await fiveResults(
    async ({ store: roomy, directory, kept: [, second] }) => {
      await roomy.asFile((second as GranaryResult).value);
      linkSync(roomy.blobs.path((second as GranaryResult).value), join(directory, "output"));
    },
    (digest) => digest.hash === first.hash,
  );

  await store.trim();

  expect(await foundKeys()).toEqual(["a", "b", "d", "e"]);
});

test("blobs without a result stay for ten minutes", async () => {
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
    // The state at that moment: the results are removed, and their blobs still exist.
    await roomy.forget("p", a as GranaryResult);
    await roomy.forget("p", b as GranaryResult);
  });
  const [first, second] = kept as [GranaryResult, GranaryResult];

  await next.trim();

  expect(await next.blobs.findMissing([first.value, second.value])).toHaveLength(2);
  for (const r of kept.slice(2)) expect(await next.find("p", r)).toEqual(r);
});

test("a result that a client found during a trim stays", async () => {
  const first = resultOf("a", [block("a")]);
  let opened: OpenGranaryStore | undefined;
  let found: Promise<GranaryResult | undefined> | undefined;
  // A trim calls this while it examines the store.
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
  const { store, foundKeys, clock } = await fiveResults(async ({ store: roomy, kept, clock }) => {
    clock.set(clock.now().getTime() - hours * hour);
    for (const r of kept.slice(0, 2)) await roomy.find("p", r);
  });

  await store.trim();
  expect(await foundKeys()).toEqual(expect.arrayContaining(["a", "b"]));
  // From then on they count as used now, and age like all others.
  clock.set(clock.now().getTime() + hour);
  for (const key of ["x", "y", "z"]) await keepResult(store, key, [block(key)]);
  await store.trim();
  expect(await foundKeys()).not.toContain("a");
  expect(store.has("p", resultOf("z", [block("z")]))).toBe(true);
});

test("an executable copy counts, and is removed with its blob", async () => {
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
