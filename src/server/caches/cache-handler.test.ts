import { createHash, randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { createToken } from "#access/create-token.ts";
import type { CacheTool } from "#api/tool-cache.ts";
import { cacheTotals, forgetUnusedEntries } from "#caches/cache-entry.store.ts";
import { digestOf } from "#cas/digest-of.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type Answered, type ServedCaches, send, serveCaches } from "./caches.fixture.ts";

const db = await freshDb();
let served: ServedCaches;
let base: string;

beforeEach(async () => {
  served = await serveCaches(db);
  // Each test has its own project, because the tests share the database.
  base = `/cache/p${randomBytes(6).toString("hex")}`;
});
afterEach(() => served.stop());
afterAll(() => db.close());

function ask(method: string, path: string, body?: string | Uint8Array, headers = {}) {
  const options = body === undefined ? { headers } : { body, headers };
  return send(served.url, method, `${base}${path}`, options);
}

const small = Buffer.from("a small value");
const large = randomBytes(3_000_000);

/** One path of each tool, for bytes without a meaning. */
const places: readonly (readonly [CacheTool, string, number])[] = [
  ["bazel", `/bazel/ac/${"a".repeat(64)}`, 200],
  ["ccache", "/ccache/b1/0ahtgqjq8d5k1", 200],
  ["sccache", `/sccache/1/0/7/${"a".repeat(64)}`, 201],
  ["gradle", "/gradle/0123456789abcdef0123456789abcdef", 200],
  ["maven", "/maven/v1.1/org.example/app/7f505e0672e2020e/app.jar", 200],
  ["turborepo", "/turborepo/v8/artifacts/64f2b4644d820f0f?slug=farm", 202],
  ["nx", "/nx/v1/cache/10485745323157372248", 200],
  ["gocache", `/gocache/${"b".repeat(64)}`, 200],
];

describe.each(places)("%s", (tool, path, written) => {
  test.each([
    ["a small value", small],
    ["a large value", large],
    ["no bytes", Buffer.alloc(0)],
  ])("misses, is given %s, and gives it back", async (_, value) => {
    const miss = await ask("GET", path);
    const put = await ask("PUT", path, value);
    const hit = await ask("GET", path);
    const head = await ask("HEAD", path);

    expect([miss.status, put.status, hit.status, head.status]).toEqual([404, written, 200, 200]);
    expect(hit.body.equals(value)).toBe(true);
    expect(head.body).toHaveLength(0);
    expect(head.headers["content-length"]).toBe(String(value.length));
    expect(hit.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
    });
    const counted = served.caches.counter.all();
    expect(counted).toEqual([{ project: base.slice(7), tool, hits: 1, misses: 1, writes: 1 }]);
  });

  test("takes chunks of which nobody said how many", async () => {
    await ask("PUT", path, large, { "transfer-encoding": "chunked" });

    expect((await ask("GET", path)).body.equals(large)).toBe(true);
  });

  test("keeps projects apart", async () => {
    await ask("PUT", path, small);
    const elsewhere = await send(served.url, "GET", `/cache/another${path}`);

    expect(elsewhere.status).toBe(404);
  });

  test.each([
    ["small", small],
    ["large", large],
  ])("a %s value that rots on the disk is a miss, never wrong bytes", async (_, value) => {
    const unique = Buffer.concat([value, randomBytes(8)]);
    await ask("PUT", path, unique);
    const file = served.disk.path(digestOf(unique));
    await rm(file);
    await writeFile(file, Buffer.from(unique).fill(0, 0, 4));

    const rotten = await ask("GET", path);
    const after = await ask("GET", path);
    const again = await ask("PUT", path, unique);
    const healed = await ask("GET", path);

    expect(rotten.status === 404 || !rotten.isWhole).toBe(true);
    expect(after.status).toBe(404);
    // The same bytes may be back before their entry is deleted. In that case Nx gets 409.
    expect(tool === "nx" ? [written, 409] : [written]).toContain(again.status);
    expect(healed.body.equals(unique)).toBe(true);
  });

  test("a value whose blob is gone is a miss, and can be written again", async () => {
    const unique = randomBytes(100);
    await ask("PUT", path, unique);
    await served.disk.remove(digestOf(unique));

    expect((await ask("HEAD", path)).status).toBe(404);
    // The miss causes the entry to be deleted, and no request waits for the deletion. If the same bytes come back
    // earlier, the entry remains, and a tool that never overwrites gets 409.
    const stayed = path.startsWith("/nx/") ? [409] : [];
    expect([written, ...stayed]).toContain((await ask("PUT", path, unique)).status);
    expect((await ask("GET", path)).body.equals(unique)).toBe(true);
  });
});

describe("written twice", () => {
  test.each(places.filter(([tool]) => tool !== "nx"))("%s gives the last", async (_, path) => {
    await ask("PUT", path, "first");
    await ask("PUT", path, "second");

    expect((await ask("GET", path)).body.toString()).toBe("second");
  });

  test("Nx's first stays, and the second is told so", async () => {
    await ask("PUT", "/nx/v1/cache/1", "first");
    const second = await ask("PUT", "/nx/v1/cache/1", large);

    expect(second.status).toBe(409);
    expect((await ask("GET", "/nx/v1/cache/1")).body.toString()).toBe("first");
  });

  test("of many at once, Nx keeps exactly one", async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => ask("PUT", "/nx/v1/cache/2", `value ${n}`)),
    );

    const kept = all.findIndex(({ status }) => status === 200);
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(11).fill(409),
    ]);
    expect((await ask("GET", "/nx/v1/cache/2")).body.toString()).toBe(`value ${kept}`);
  });

  test("of many at once, others keep one as a whole", async () => {
    const values = Array.from({ length: 12 }, (_, n) => Buffer.alloc(400_000, `value ${n} `));
    await Promise.all(values.map((value) => ask("PUT", "/gradle/same", value)));

    const { body } = await ask("GET", "/gradle/same");
    expect(values.some((value) => value.equals(body))).toBe(true);
  });
});

describe("parts", () => {
  test.each([
    ["bytes=2-6", 206, "small", "bytes 2-6/13"],
    ["bytes=-5", 206, "value", "bytes 8-12/13"],
    ["bytes=99-", 416, "", "bytes */13"],
    ["bytes=0-1,3-4", 200, "a small value", undefined],
  ])("%s is answered %i", async (range, status, text, contentRange) => {
    await ask("PUT", "/gradle/abc", small);

    const part = await ask("GET", "/gradle/abc", undefined, { range });

    expect(part.status).toBe(status);
    expect(part.body.toString()).toBe(text);
    expect(part.headers["content-range"]).toBe(contentRange);
  });
});

describe("who may what", () => {
  const tokenOf = async (principal: string) => {
    const wanted = { principal, createdBy: "test", expiresInMs: undefined };
    return (await createToken(db, wanted, new Date())).token;
  };
  const rule = (name: string, verb: string, repository: string) =>
    `insert into grant_rule (principal, verb, repository, branch, created_by)
     values ('${name}', '${verb}', '${repository}', '*', 'test')`;
  const path = "/gradle/abc";
  const statuses = async (authorization: string | undefined) => {
    const headers = authorization === undefined ? {} : { authorization };
    const all: Answered[] = [
      await ask("GET", path, undefined, headers),
      await ask("PUT", path, small, headers),
      await ask("PUT", "/nx/v1/cache/9", small, headers),
      await ask("DELETE", "/ccache/abc", undefined, headers),
    ];
    return all.map(({ status }) => status);
  };

  test("a token with the right may write, as bearer and as Basic's password", async () => {
    await db.script("delete from grant_rule where verb <> 'read'");
    const token = await tokenOf("writer");
    await db.script(rule("writer", "cache", base.slice(7)));
    const basic = `Basic ${Buffer.from(`ci:${token}`).toString("base64")}`;

    expect(await statuses(`Bearer ${token}`)).toEqual([404, 200, 200, 404]);
    expect(await statuses(basic)).toEqual([200, 200, 409, 404]);
  });

  test("a right elsewhere is none here: reading goes on, writing is 403 and names the grant", async () => {
    await db.script("delete from grant_rule where verb <> 'read'");
    const token = await tokenOf("elsewhere");
    await db.script(rule("elsewhere", "cache", "another"));

    expect(await statuses(`Bearer ${token}`)).toEqual([404, 403, 403, 403]);
    const refused = await ask("PUT", path, small, { authorization: `Bearer ${token}` });
    expect(refused.body.toString()).toContain(
      `grange grant add elsewhere cache --repository ${base.slice(7)}`,
    );
  });

  test("without a token a closed farm gives, and takes nothing: 401", async () => {
    await db.script("delete from grant_rule where verb <> 'read'");

    expect(await statuses(undefined)).toEqual([404, 401, 403, 401]);
    const refused = await ask("PUT", path, small);
    expect(refused.headers["www-authenticate"]).toMatch(/Basic/);
  });

  test("the word `none` is no token: Turborepo sends something, or asks nothing", async () => {
    await db.script("delete from grant_rule where verb <> 'read'");

    // A wrong token is refused for reading, too.
    expect(await statuses("Bearer none")).toEqual([404, 401, 403, 401]);
  });

  test("a wrong token gets 401 for reading, too; only Nx finds nothing, and says why", async () => {
    await db.script("delete from grant_rule where verb <> 'read'");
    await db.script(rule("anyone", "*", "*"));
    const wrong = { authorization: `Bearer grange_${"x".repeat(43)}` };

    expect(await statuses(wrong.authorization)).toEqual([401, 401, 403, 401]);
    const nx = await ask("GET", "/nx/v1/cache/9", undefined, wrong);
    expect([nx.status, nx.body.toString()]).toEqual([
      404,
      expect.stringMatching(/does not know this token/),
    ]);
  });
});

test("what nobody has used for a month is forgotten, and nothing else", async () => {
  const project = base.slice(7);
  await ask("PUT", "/gradle/old", small);
  await ask("PUT", "/gradle/used", small);
  await db.script(`update cache_entry set created_at = created_at - interval '40 days',
    last_used_at = last_used_at - interval '31 days' where project = '${project}'`);
  await ask("GET", "/gradle/used");
  await served.caches.stop();

  await forgetUnusedEntries(db, new Date(Date.now() - 30 * 86_400_000));

  const kept = (await cacheTotals(db)).filter((each) => each.project === project);
  expect(kept).toMatchObject([{ tool: "gradle", entries: 1, bytes: small.length }]);
  expect((await ask("GET", "/gradle/old")).status).toBe(404);
});

test("what was acknowledged is there for another server at once", async () => {
  const other = await serveCaches(db);
  const put = await ask(
    "PUT",
    `/bazel/cas/${createHash("sha256").update(small).digest("hex")}`,
    small,
  );
  await ask("PUT", "/gradle/shared", small);

  expect(put.status).toBe(200);
  expect(
    await other.caches.find({
      project: base.slice(7),
      tool: "gradle",
      key: "shared",
      reader: protectedDomain,
    }),
  ).toBeDefined();
  expect(await readdir(join(served.directory, "temp"))).toEqual([]);
  await other.stop();
});
