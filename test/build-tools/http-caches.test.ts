import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToken } from "#access/create-token.ts";
import { type ServedCaches, serveCaches } from "#server/caches/caches.fixture.ts";
import { freshDb } from "../support/fresh-db.ts";
import { needs } from "../support/needs/needs.ts";
import { testedTools } from "./caches/all-tools.ts";
import type { Build } from "./caches/tool-driver.ts";
import { type CachePlace, tryTool } from "./caches/try-tool.ts";

const db = await freshDb();
let served: ServedCaches;
let place: CachePlace;

beforeAll(async () => {
  served = await serveCaches(db);
  const wanted = { principal: "ci", createdBy: "test", expiresInMs: undefined };
  const { token } = await createToken(db, wanted, new Date());
  await db.script(`insert into grant_rule (principal, verb, repository, branch, created_by)
    values ('ci', 'cache', 'tools', '*', 'test')`);
  place = { url: served.url, token, blobs: served.directory };
});
afterAll(async () => {
  await served.stop();
  await db.close();
});

const builds = ["cold", "warm", "wrongToken", "gone", "rotten", "healed"] as const;

/** The output of a tool matters only if it fails. */
function seen({ code, hits, outputs, said }: Build) {
  return { code, hits, outputs, said: code === 0 ? "" : said };
}

describe.each(testedTools.map((tool) => [tool.name, tool] as const))("%s", (_, tool) => {
  const options = { ...needs(tool.need) };
  test(
    "builds the same with all faults of its cache; the second build uses the cache",
    options,
    async () => {
      const all = await tryTool(tool, place);
      // Without a server the result depends on the tool.
      const tried = tool.needsServer === true ? { ...all, gone: all.warm } : all;

      const parts = tried.cold.misses;
      const right = (hits: unknown) => ({ code: 0, hits, outputs: tried.cold.outputs, said: "" });
      expect(Object.fromEntries(builds.map((name) => [name, seen(tried[name])]))).toEqual({
        cold: right(0),
        warm: right(parts),
        wrongToken: right(tool.readsWithoutToken === true ? parts : 0),
        gone: right(tried.gone.hits),
        rotten: right(0),
        healed: right(parts),
      });
    },
  );
});
