import pino from "pino";
import { afterAll, expect, test } from "vitest";
import { readKeyFilter } from "#commit-index/key-filter.ts";
import { digestKey } from "#core/digest.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import {
  buildOf,
  entryOf,
  freshFarmOfGranaries,
  sha,
  toolResult,
} from "./farm-of-granaries.fixture.ts";
import { openGranaries } from "./open-granaries.ts";
import { openSentLately } from "./recently-sent-blobs.ts";

const farm = await freshFarmOfGranaries();
const silent = pino({ level: "silent" });
const sentLately = openSentLately();
const { db, blobsOf, treesOf, caches, clock } = farm;
afterAll(() => farm.stop());

const inDomain = (domain: string) =>
  openGranaries({
    db,
    blobsOf,
    treesOf,
    caches,
    clock,
    logger: silent,
    domain: TrustDomain.parse(domain),
    knowsCommit: async () => "no such repository",
    sentLately,
  });
const all = inDomain(protectedDomain);
const ada = inDomain("user/ada");
const bob = inDomain("user/bob");

/** Stores an action whose result is a blob, but not yet a row. */
async function anUntoldAction(name: string) {
  const { told } = await farm.anAction("elsewhere", name);
  return told;
}

test("results of a principal without the right to write for all are visible only to it", async () => {
  const told = await anUntoldAction("ada's");

  expect(await ada.publishResults("p", [told], "ada")).toEqual([{ kind: "kept" }]);

  expect(await ada.lookUp("p", [told])).toHaveLength(1);
  expect(await all.lookUp("p", [told])).toEqual([]);
  expect(await bob.lookUp("p", [told])).toEqual([]);
  const key = { namespace: told.namespace, key: told.key };
  const has = async (of: typeof ada) => {
    const filter = await of.keyFilter("p");
    return filter === undefined || readKeyFilter(filter)(key);
  };
  expect([await has(ada), await has(all), await has(bob)]).toEqual([true, false, false]);
});

test("results for all are visible to everybody, and private results do not replace them for others", async () => {
  const told = await anUntoldAction("for all");
  await all.publishResults("p", [told], "ci");
  const other = await farm.put("no ActionResult of that");

  expect(await ada.lookUp("p", [told])).toHaveLength(1);
  expect(await ada.publishResults("p", [told], "ada")).toEqual([{ kind: "known" }]);
  await ada.publishResults("p", [{ ...told, value: other }], "ada");

  expect(await all.lookUp("p", [told])).toMatchObject([{ value: told.value }]);
  expect(await bob.lookUp("p", [told])).toMatchObject([{ value: told.value }]);
});

test("an entry of a tool's cache is its writer's alone, and does not replace that of all", async () => {
  const told = toolResult("compiled", await farm.put("poison"));

  expect(await ada.publishResults("p", [told], "ada")).toEqual([{ kind: "kept" }]);
  expect(await ada.lookUp("p", [told])).toHaveLength(1);
  expect(await all.lookUp("p", [told])).toEqual([]);
  expect(await bob.lookUp("p", [told])).toEqual([]);

  const right = toolResult("compiled", await farm.put("as it is"));
  expect(await all.publishResults("p", [right], "ci")).toEqual([{ kind: "kept" }]);
  expect(await all.lookUp("p", [right])).toMatchObject([{ value: right.value }]);
  expect(await bob.lookUp("p", [right])).toMatchObject([{ value: right.value }]);
  expect(await ada.lookUp("p", [told])).toMatchObject([{ value: told.value }]);
});

test("whoever doubts its own entry hides it from itself, and not what others read", async () => {
  const right = toolResult("doubted", await farm.put("right"));
  const own = toolResult("doubted", await farm.put("ada's"));
  await all.publishResults("p", [right], "ci");
  await ada.publishResults("p", [own], "ada");

  const divergence = {
    namespace: "ccache",
    key: "doubted",
    kept: digestKey(own.value),
    madeNow: `${"0".repeat(64)}/1`,
    differs: [],
    machine: "",
    build: null,
    at: "2026-11-22T10:00:00.000Z",
  };
  expect(await ada.reportDivergence("p", divergence, "ada")).toBe(true);

  // What others read is now ada's, too.
  expect(await ada.lookUp("p", [own])).toMatchObject([{ value: right.value }]);
  expect(await all.lookUp("p", [right])).toHaveLength(1);
  expect(await bob.lookUp("p", [right])).toHaveLength(1);
});

test("a private index serves its owner, before the index of all", async () => {
  const shared = await farm.aResult("index", "shared");
  const own = await anUntoldAction("own of the index");
  await ada.publishResults("index", [own], "ada");
  const build = buildOf("index", 2);
  const told = await farm.publish(build, [entryOf(shared)], { by: all });
  const toldByAda = await farm.publish(build, [entryOf(shared), entryOf(own)], { by: ada });

  const found = async (of: typeof ada) =>
    (await of.resolve(build)).map(({ candidate }) => candidate.digest);

  expect(toldByAda).toMatchObject({ taken: 2, refused: 0 });
  expect(await found(all)).toEqual([told.index]);
  expect(await found(bob)).toEqual([told.index]);
  expect(await found(ada)).toEqual([toldByAda.index, told.index]);
  // Results in `protected` refer only to blobs that all may read.
  expect(await farm.publish(buildOf("index", 3), [entryOf(own)], { by: all })).toMatchObject({
    taken: 0,
    refused: 1,
  });
});

test("private indexes do not count towards the hourly limit of all", async () => {
  const few = (domain: string) =>
    openGranaries({
      db,
      blobsOf,
      treesOf,
      caches,
      clock,
      logger: silent,
      domain: TrustDomain.parse(domain),
      knowsCommit: async () => "no such repository",
      sentLately,
      mostNewIndexesAnHour: 1,
    });
  const shared = await farm.aResult("few", "shared");
  const tell = (by: typeof ada, n: number) =>
    farm.publish({ ...buildOf("few", 1), commits: [sha(n)] }, [entryOf(shared)], { by });

  await tell(few("user/ada"), 900);
  await expect(tell(few("user/ada"), 901)).rejects.toMatchObject({ code: "resource_exhausted" });
  expect(await tell(few("protected"), 902)).toMatchObject({ taken: 1 });
});
