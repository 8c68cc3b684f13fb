import { describe, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import { noFarm } from "../farm/no-farm.ts";
import { keepResult, resultOf } from "../store/granary-store.fixture.ts";
import { fakeBuild, told } from "./fake-build.fixture.ts";
import { openCacheBehindLine, openCacheWith } from "./tiered-cache.fixture.ts";

const ccache = (key: string): ResultKey => ({ namespace: "ccache", key });
const large = "x".repeat(1_200_000);
/**
 * One second, plus what a busy machine may add: a second for each request would be more than ten.
 */
const mostMs = 10_000;

describe("a result", () => {
  test("that is local is returned without a call to the farm", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const build = fakeBuild();
    const kept = await keepResult(store, "a", ["value"]);

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toEqual(kept);
    expect(told(build)).toEqual(["local ccache a"]);
    expect(fake.calls.lookUp).toBe(0);
  });

  test("of the farm is fetched with its blobs, and is local from then on", async () => {
    const { tieredCache, store, fake, line } = await openCacheBehindLine();
    const build = fakeBuild({ prefetch: {} });
    const who = { project: "p", build };
    const kept = await fake.has("a", ["value", "one", "two"], { costMs: 7 });

    expect(await tieredCache.result(who, ccache("a"))).toEqual(kept);
    line.cut("refused");
    await tieredCache.stop();
    expect(await store.find("p", ccache("a"))).toEqual(kept);
    expect(String(await tieredCache.blobs(who).get(kept.value))).toBe("value");
    expect(told(build)).toEqual(["fetched not-indexed ccache a"]);
    expect(build.pausedForForeground).toEqual({ begun: 1, ended: 1 });
  });

  test("of the farm arrives with its small blobs in one round trip", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const kept = await fake.has("a", ["value", "one"]);
    for (const text of ["value", "one"]) {
      const bytes = Buffer.from(text);
      fake.along.set(digestOf(bytes).hash, bytes);
    }

    expect(await tieredCache.result({ project: "p", build: fakeBuild() }, ccache("a"))).toEqual(
      kept,
    );

    expect(fake.calls).toMatchObject({ lookUp: 1, reads: 0 });
    expect(await store.find("p", ccache("a"))).toEqual(kept);
  });

  test("of the farm with wrong bytes for a blob gets that blob by a separate request", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const kept = await fake.has("a", ["value", "one"]);
    fake.along.set(kept.value.hash, Buffer.from("VALUE"));

    expect(await tieredCache.result({ project: "p", build: fakeBuild() }, ccache("a"))).toEqual(
      kept,
    );

    expect(fake.calls.reads).toBe(2);
    expect(String(await store.blobs.get(kept.value))).toBe("value");
  });

  test("whose blobs an index names gets them during the lookup, and only once", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const kept = await fake.has("a", ["value", "one"]);
    const blobsOf = () => [kept.value, ...kept.blobs];
    const build = fakeBuild({ prefetch: { blobsOf } });

    fake.along.set(kept.value.hash, Buffer.from("value"));
    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toEqual(kept);
    expect(await store.blobs.findMissing(blobsOf())).toEqual([]);
    expect(fake.calls.reads).toBe(2);
  });

  test("that an index names, and that the farm has lost since, is a miss and not an error", async () => {
    const { tieredCache } = await openCacheBehindLine();
    const blobsOf = () => [digestOf(Buffer.from("gone"))];
    const build = fakeBuild({ prefetch: { blobsOf } });

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeUndefined();
  });

  test("with several simultaneous requests is looked up once, and each request is recorded", async () => {
    const { tieredCache, fake } = await openCacheBehindLine();
    const build = fakeBuild();
    const kept = await fake.has("a", ["value"]);

    const asked = [1, 2, 3].map(() => tieredCache.result({ project: "p", build }, ccache("a")));

    expect(await Promise.all(asked)).toEqual([kept, kept, kept]);
    expect(fake.calls).toMatchObject({ lookUp: 1, keys: 1 });
    expect(build.requests).toHaveLength(3);
  });

  test("that the farm did not have at the build's start is not requested", async () => {
    const { tieredCache, fake } = await openCacheBehindLine();
    const build = fakeBuild({ mayBeAtFarm: () => false });

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeUndefined();
    expect(fake.calls.lookUp).toBe(0);
    expect(told(build)).toEqual(["missed never-made ccache a"]);
  });

  test("with a blob that the farm has lost is a miss", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const build = fakeBuild();
    const kept = await fake.has("a", ["value", "one"]);
    await fake.blobs.remove(digestOf(Buffer.from("one")));

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeUndefined();
    expect(told(build)).toEqual(["missed incomplete ccache a"]);
    expect(store.has("p", kept)).toBe(false);
  });

  test("of one project is not returned to another", async () => {
    const { tieredCache, fake } = await openCacheBehindLine();
    await fake.has("a", ["value"]);
    expect(
      await tieredCache.result({ project: "other", build: undefined }, ccache("a")),
    ).toBeUndefined();
  });
});

describe("a large result", () => {
  test("arrives with its value, and its blobs when they are read; then it is local", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const build = fakeBuild();
    const who = { project: "p", build };
    const kept = await fake.has("a", ["value", large, "small"]);
    const [first, second] = kept.blobs;
    if (first === undefined || second === undefined) throw new Error("it has two blobs");

    expect(await tieredCache.result(who, ccache("a"))).toEqual(kept);
    expect(await store.blobs.findMissing(kept.blobs)).toHaveLength(2);
    expect(await tieredCache.result(who, ccache("a"))).toEqual(kept);
    expect(fake.calls.lookUp).toBe(1);

    const chunks = await tieredCache.blobs(who).read(first);
    let bytes = 0;
    for await (const chunk of chunks ?? []) bytes += chunk.byteLength;
    expect(bytes).toBe(large.length);
    expect(await store.find("p", kept)).toBeUndefined();
    await tieredCache.blobs(who).get(second);
    await tieredCache.stop();
    expect(await store.find("p", kept)).toEqual(kept);
  });

  test("is no hit any more when the farm has lost a blob: the tool gets a missing blob", async () => {
    const { tieredCache, fake } = await openCacheBehindLine();
    const build = fakeBuild();
    const who = { project: "p", build };
    const kept = await fake.has("a", ["value", large]);
    await tieredCache.result(who, ccache("a"));
    fake.results.clear();
    const lost = digestOf(Buffer.from(large));
    await fake.blobs.remove(lost);

    expect(await tieredCache.blobs(who).read(lost)).toBeUndefined();
    expect(await tieredCache.result(who, kept)).toBeUndefined();
  });
});

describe("a result in transfer", () => {
  test("is awaited, and not requested twice", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const build = fakeBuild({
      prefetch: { coming: () => keepResult(store, "a", ["value"]).then(() => {}) },
    });

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeDefined();
    expect(fake.calls.lookUp).toBe(0);
    expect(told(build)).toEqual(["fetched overtaken ccache a"]);
  });

  test("or possibly in transfer, because the index is not read yet, is awaited, too", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    let isKnown = false;
    const build = fakeBuild({
      prefetch: {
        async planning() {
          isKnown = true;
        },
        coming: () => (isKnown ? keepResult(store, "a", ["value"]).then(() => {}) : undefined),
      },
      mayBeAtFarm: () => !isKnown,
    });
    const who = { project: "p", build };

    expect(await tieredCache.result(who, ccache("a"))).toBeDefined();
    expect(await tieredCache.result(who, ccache("nobody's"))).toBeUndefined();
    expect(fake.calls.lookUp).toBe(0);
  });

  test("or already arrived with the index is local, and not requested", async () => {
    const { tieredCache, store, fake } = await openCacheBehindLine();
    const build = fakeBuild({
      prefetch: {
        planning: async () => {
          await keepResult(store, "a", ["value"]);
        },
      },
    });

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeDefined();
    expect(fake.calls.lookUp).toBe(0);
    expect(told(build)).toEqual(["fetched overtaken ccache a"]);
  });

  test("that does not arrive is requested directly", async () => {
    const { tieredCache, fake } = await openCacheBehindLine();
    await fake.has("a", ["value"]);
    const build = fakeBuild({
      prefetch: { coming: () => new Promise(() => {}), whyNot: () => "overtaken" },
    });

    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toBeDefined();
    expect(told(build)).toEqual(["fetched overtaken ccache a"]);
  });

  test("that arrived in time is distinguished from one that was local before", async () => {
    const { tieredCache, store } = await openCacheBehindLine();
    const build = fakeBuild({ prefetch: { leadMs: () => 120 } });
    await keepResult(store, "a", ["value"]);

    await tieredCache.result({ project: "p", build }, ccache("a"));
    expect(told(build)).toEqual(["prefetched ccache a"]);
  });
});

describe("an unreachable farm", () => {
  /** Requests this number of results, eight at a time, and returns the build's waiting time. */
  async function wholeBuild(
    stand: Awaited<ReturnType<typeof openCacheBehindLine>>,
    prefetch?: Parameters<typeof fakeBuild>[0],
  ) {
    const build = fakeBuild(prefetch);
    const begun = performance.now();
    for (let n = 0; n < 200; n += 8) {
      const keys = Array.from({ length: 8 }, (_, i) => ccache(`key-${n + i}`));
      await Promise.all(keys.map((key) => stand.tieredCache.result({ project: "p", build }, key)));
    }
    return { build, ms: performance.now() - begun };
  }

  test.each(["refused", "silent"] as const)(
    "from the start (%s) costs a build a second at most, and no error",
    async (how) => {
      const stand = await openCacheBehindLine();
      stand.line.cut(how);
      const { build, ms } = await wholeBuild(stand);

      expect(build.requests).toHaveLength(200);
      expect(new Set(build.requests.map(({ source }) => source))).toEqual(new Set(["unreachable"]));
      expect(ms).toBeLessThan(mostMs);
    },
  );

  test.each(["refused", "silent"] as const)(
    "from the middle of the build on (%s) costs it no more",
    async (how) => {
      const stand = await openCacheBehindLine({ roundTripMs: 10 });
      await stand.fake.has("a", ["value"]);
      await stand.tieredCache.result({ project: "p", build: undefined }, ccache("a"));
      stand.line.cut(how);
      const { build, ms } = await wholeBuild(stand);

      expect(new Set(build.requests.map(({ because }) => because))).toEqual(new Set(["farm-away"]));
      expect(ms).toBeLessThan(mostMs);
    },
  );

  test("that accepts calls and never answers costs no more", async () => {
    const stand = await openCacheBehindLine();
    stand.fake.gate = new Promise(() => {});
    const { build, ms } = await wholeBuild(stand);

    expect(new Set(build.requests.map(({ source }) => source))).toEqual(new Set(["unreachable"]));
    expect(ms).toBeLessThan(mostMs);
  });

  test("and whose prefetch has stopped costs no more, although all was in transfer", async () => {
    const stand = await openCacheBehindLine({ roundTripMs: 10 });
    await stand.fake.has("a", ["value"]);
    await stand.tieredCache.result({ project: "p", build: undefined }, ccache("a"));
    stand.line.cut("stalled");
    const neverComes = new Promise<void>(() => {});
    const { build, ms } = await wholeBuild(stand, { prefetch: { coming: () => neverComes } });

    expect(new Set(build.requests.map(({ because }) => because))).toEqual(new Set(["farm-away"]));
    // A wait of 0.2 s for each would add 5 s.
    expect(ms).toBeLessThan(5_500);
  });

  test("that becomes silent during a large blob costs no more", async () => {
    const stand = await openCacheBehindLine();
    const build = fakeBuild();
    const who = { project: "p", build };
    const kept = await stand.fake.has("a", ["value", large]);
    await stand.tieredCache.result(who, ccache("a"));
    const silent: GranaryFarm = {
      ...stand.farm,
      blobs: () => ({
        ...stand.store.blobs,
        read: async () =>
          (async function* () {
            yield Buffer.from(large.slice(0, 100_000));
            await new Promise(() => {});
          })(),
      }),
    };
    const { tieredCache } = await openCacheWith(silent);
    const begun = performance.now();
    const [blob] = kept.blobs;
    if (blob === undefined) throw new Error("it has a blob");

    const reading = await tieredCache.blobs(who).read(blob);
    const read = async () => {
      for await (const _ of reading ?? []);
    };
    await expect(read()).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(mostMs);
  });

  test("that is slow, but answers, is awaited", async () => {
    const { tieredCache, fake } = await openCacheBehindLine({ roundTripMs: 200 });
    const build = fakeBuild();
    const kept = await fake.has("a", ["value"]);
    for (let n = 0; n < 4; n++) {
      await tieredCache.result({ project: "p", build }, ccache(`miss-${n}`));
    }
    expect(await tieredCache.result({ project: "p", build }, ccache("a"))).toEqual(kept);
    expect(build.requests.map(({ source }) => source)).not.toContain("unreachable");
  });
});

describe("the results of a build", () => {
  test("are stored locally, recorded, and queued for the farm", async () => {
    const { tieredCache, store, outbox } = await openCacheWith(noFarm());
    const build = fakeBuild();
    const who = { project: "p", build };
    const result = resultOf("a", ["value"]);
    await tieredCache.blobs(who).put(result.value, Buffer.from("value"));

    await tieredCache.keep(who, result);

    expect(await store.find("p", result)).toEqual(result);
    expect(outbox).toEqual([result]);
    expect(build.results).toEqual([result]);
    await tieredCache.forget(who, result);
    expect(await store.find("p", result)).toBeUndefined();
  });

  test("can be found only after they are queued: a daemon that is killed in between leaves none that the farm never gets", async () => {
    const couldBeFound: boolean[] = [];
    const { tieredCache, store, outbox } = await openCacheWith(noFarm());
    const result = resultOf("a", ["value"]);
    const who = { project: "p", build: undefined };
    await tieredCache.blobs(who).put(result.value, Buffer.from("value"));
    outbox.push = () => couldBeFound.push(store.has("p", result));

    await tieredCache.keep(who, result);

    expect(couldBeFound).toEqual([false]);
    expect(await store.find("p", result)).toEqual(result);
  });

  test("cost the build nothing when they cannot be stored", async () => {
    const { tieredCache, outbox } = await openCacheWith(noFarm());
    // The blob of this result is missing.
    await tieredCache.keep({ project: "p", build: undefined }, resultOf("a", ["value"]));
    expect(outbox.length).toBeLessThanOrEqual(1);
  });
});

describe("a share of hits that is made again", () => {
  test("is hidden from its build, and accepted when the new result is the same", async () => {
    const { tieredCache, store, fake, outbox } = await openCacheBehindLine({ crossCheckShare: 1 });
    const build = fakeBuild();
    const who = { project: "p", build };
    const kept = await fake.has("a", ["value"], { namespace: "sccache" });
    const key: ResultKey = { namespace: "sccache", key: "a" };

    expect(await tieredCache.result(who, key)).toBeUndefined();
    expect(told(build)).toEqual(["missed cross-check sccache a"]);
    await tieredCache.blobs(who).put(kept.value, Buffer.from("value"));
    await tieredCache.keep(who, kept);

    expect(await tieredCache.result(who, key)).toEqual(kept);
    expect(fake.divergences).toEqual([]);
    expect(outbox).toHaveLength(1);
    expect(await store.find("p", key)).toEqual(kept);
  });

  test("and differs is reported, and the new one stays on this machine", async () => {
    const { tieredCache, store, fake, outbox } = await openCacheBehindLine({ crossCheckShare: 1 });
    const build = fakeBuild();
    const who = { project: "p", build };
    const key: ResultKey = { namespace: "sccache", key: "a" };
    await fake.has("a", ["poisoned"], { namespace: "sccache" });
    await tieredCache.result(who, key);
    const fresh = resultOf("a", ["right"], "sccache");
    await tieredCache.blobs(who).put(fresh.value, Buffer.from("right"));

    await tieredCache.keep(who, fresh);
    await tieredCache.stop();

    expect(fake.divergences).toMatchObject([
      { namespace: "sccache", key: "a", build: build.id, machine: "this one" },
    ]);
    expect(outbox).toEqual([]);
    expect(await store.find("p", key)).toEqual(fresh);
  });

  test("and differs while the farm is unreachable is reported later", async () => {
    const { tieredCache, fake, line, divergences } = await openCacheBehindLine({
      crossCheckShare: 1,
    });
    const build = fakeBuild();
    const who = { project: "p", build };
    await fake.has("a", ["poisoned"], { namespace: "sccache" });
    const key: ResultKey = { namespace: "sccache", key: "a" };
    const kept = await tieredCache.result({ project: "p", build: undefined }, key);
    if (kept === undefined) throw new Error("the farm gave nothing");
    await tieredCache.blobs(who).get(kept.value);
    await tieredCache.result(who, key);
    line.cut("refused");
    const fresh = resultOf("a", ["right"], "sccache");
    await tieredCache.blobs(who).put(fresh.value, Buffer.from("right"));

    await tieredCache.keep(who, fresh);
    await tieredCache.stop();

    expect(fake.divergences).toEqual([]);
    expect(divergences).toMatchObject([{ namespace: "sccache", key: "a", build: build.id }]);
  });
});
