import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { GranaryFarm, WhichBuild } from "../farm/granary-farm.ts";
import { noFarm } from "../farm/no-farm.ts";
import { freshStore, keepResult, silentLogger } from "../store/granary-store.fixture.ts";
import { openTieredCache } from "../tiered-cache/open-tiered-cache.ts";
import { someFacts } from "./build-facts.fixture.ts";
import { openBuilds } from "./open-builds.ts";
import { openQuarantineUpdates, type QuarantineUpdate } from "./quarantine-updates.ts";

const facts = someFacts();

/** Builds over a store, with a farm whose quarantine the test defines. */
async function scene(answer: (which: WhichBuild) => Promise<QuarantineUpdate | undefined>) {
  const { store, directory } = await freshStore();
  const asked: (number | undefined)[] = [];
  const farm: GranaryFarm = {
    ...noFarm(),
    async resolve(which) {
      asked.push(which.quarantineSince);
      const quarantined = await answer(which);
      return { indexes: [], mayHave: () => true, ...(quarantined && { quarantined }) };
    },
  };
  const tieredCache = openTieredCache({
    store,
    outbox: { addResult: async () => {}, addDivergence: async () => {} },
    farm,
    crossCheckShare: 0,
    machine: "m",
    logger: silentLogger,
  });
  const open = async () => {
    const builds = await openBuilds({
      directory,
      store,
      farm,
      farmName: "http://farm",
      outbox: {
        sentBytes: 0,
        addIndex: async () => {},
        addReport: async () => {},
        hold: () => () => {},
      },
      changedSince: async () => undefined,
      ownEnvironment: async () => "e",
      limits: { bytes: 1e9, results: 1e6 },
      upload: "during",
      logger: silentLogger,
    });
    onTestFinished(() => builds.stop());
    return builds;
  };
  onTestFinished(() => tieredCache.stop());
  return { store, tieredCache, open, asked };
}

test.each([true, false])(
  "newly quarantined results are dropped before this machine returns them (fetching ahead: %s)",
  async (prefetch) => {
    let tell: (told: QuarantineUpdate) => void = () => {};
    const told = new Promise<QuarantineUpdate>((resolve) => {
      tell = resolve;
    });
    const { store, tieredCache, open } = await scene(() => told);
    const [bad, good] = [
      await keepResult(store, "bad", ["b"]),
      await keepResult(store, "good", ["g"]),
    ];
    const builds = await open();
    const build = await builds.start({ ...facts, prefetch });

    const asking = tieredCache.result({ project: "p", build }, bad);
    tell({ results: [{ namespace: bad.namespace, key: bad.key }], version: 7 });

    expect(await asking).toBeUndefined();
    expect((await tieredCache.result({ project: "p", build }, good))?.key).toBe("good");
    const report = await builds.end(build.id, { exitCode: 0, complete: true });
    expect(report?.asked).toMatchObject([{ key: "bad", because: "quarantined" }, { key: "good" }]);
  },
);

test("received updates are not sent again, also after a restart", async () => {
  const { store, open, asked } = await scene(async ({ quarantineSince = 0 }) => ({
    results: quarantineSince < 7 ? [{ namespace: "ccache", key: "bad" }] : [],
    version: 7,
  }));
  for (let opened = 0; opened < 2; opened++) {
    const builds = await open();
    await builds.end((await builds.start(facts)).id, { exitCode: 0, complete: true });
    await builds.stop();
  }
  // The result was made here since the update, so it is not the doubted one.
  await keepResult(store, "bad", ["made again"]);
  const builds = await open();
  await builds.end((await builds.start(facts)).id, { exitCode: 0, complete: true });

  expect(asked).toEqual([0, 7, 7]);
  expect(store.has("p", { namespace: "ccache", key: "bad" })).toBe(true);
});

test("a silent farm is not awaited", async () => {
  const { store, tieredCache, open } = await scene(() => new Promise(() => {}));
  const kept = await keepResult(store, "k", ["v"]);
  const builds = await open();
  const build = await builds.start(facts);

  expect((await tieredCache.result({ project: "p", build }, kept))?.key).toBe("k");
});

test("after a farm has lost its data, all updates are read again; a broken file counts as absent", async () => {
  const { store, directory } = await freshStore();
  const path = join(directory, "heard.json");
  const forget = (project: string, key: Parameters<typeof store.forget>[1]) =>
    store.forget(project, key);
  const sync = () => store.sync();
  const news = await openQuarantineUpdates(path, "http://farm", forget, sync);
  await news.take("p", { results: [], version: 900 });
  await news.take("p", { results: [], version: 3 });

  expect((await openQuarantineUpdates(path, "http://farm", forget, sync)).since("p")).toBe(3);
  expect((await openQuarantineUpdates(path, "http://other", forget, sync)).since("p")).toBe(0);
  await writeFile(path, "{");
  expect((await openQuarantineUpdates(path, "http://farm", forget, sync)).since("p")).toBe(0);
});

test("an update that a full disk could not record is sent again by the farm", async () => {
  const { store, directory } = await freshStore();
  const path = join(directory, "heard.json");
  let isFull = true;
  const sync = async () => {
    if (isFull) throw new Error("no space is left");
    await store.sync();
  };
  const told: QuarantineUpdate = { results: [{ namespace: "ccache", key: "k" }], version: 7 };
  const forget = (project: string, key: Parameters<typeof store.forget>[1]) =>
    store.forget(project, key);
  const news = await openQuarantineUpdates(path, "http://farm", forget, sync);
  await news.take("p", told);
  expect(news.since("p")).toBe(0);

  isFull = false;
  await news.take("p", told);
  expect((await openQuarantineUpdates(path, "http://farm", forget, sync)).since("p")).toBe(7);
});
