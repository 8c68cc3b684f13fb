import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { readingVerbs } from "#core/verb.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { callerCacheMs, callerRegistry } from "./caller-registry.ts";
import { createToken } from "./create-token.ts";
import { deleteGrants, insertGrant } from "./grant.store.ts";
import { keepPrincipalAs } from "./principal.store.ts";
import type { Grant } from "./principal.ts";
import { newToken } from "./secret-token.ts";
import { revokeToken } from "./take-rights-away.ts";

const db = await freshDb();
afterAll(() => db.close());

let now = new Date("2026-01-01T00:00:00Z");
const clock = { now: () => now };
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
let registry = callerRegistry(db, clock);
beforeEach(() => {
  registry = callerRegistry(db, clock);
});

const mayRead: Grant = {
  verb: "read",
  repository: "*",
  branch: "*",
  priorityCap: null,
  top: false,
};
/** The rights of callers without a token on a new farm that every principal with a token has, too. */
const mayReadAll = readingVerbs.map((verb) => ({ ...mayRead, verb }));
const mayCancel: Grant = {
  verb: "cancel",
  repository: "*",
  branch: "*",
  priorityCap: null,
  top: false,
};
const create = (principal: string, expiresInMs?: number) =>
  db.transaction((tx) =>
    createToken(tx, { principal, createdBy: "root", expiresInMs }, clock.now()),
  );

test("a token means its principal, with the grants of that one", async () => {
  const { token } = await create("alice");
  await db.transaction((tx) => insertGrant(tx, "alice", mayCancel, "root"));

  expect(await registry.identify(`Bearer ${token}`)).toEqual({
    name: "alice",
    kind: "person",
    grants: [...mayReadAll, mayCancel],
  });
  expect((await registry.identify(`bearer ${token}`)).name).toBe("alice");
});

test("who sends no header is anyone, who may do everything on a new farm", async () => {
  expect(await registry.identify(undefined)).toEqual({
    name: "anyone",
    grants: [
      { verb: "*", repository: "*", branch: "*", priorityCap: null, top: true },
      ...mayReadAll,
    ],
  });
});

test("who has a token may read what anyone may, and nothing more once that is taken away", async () => {
  const everything = { repository: undefined, branch: undefined };
  await db.transaction((tx) => keepPrincipalAs(tx, "shed", "worker"));
  expect((await registry.identify(undefined, "shed")).grants).toEqual(mayReadAll);

  for (const verb of readingVerbs)
    await db.transaction((tx) => deleteGrants(tx, { principal: "anyone", verb, ...everything }));
  registry.forgetAll();

  expect((await registry.identify(undefined, "shed")).grants).toEqual([]);
  for (const grant of mayReadAll)
    await db.transaction((tx) => insertGrant(tx, "anyone", grant, "root"));
  registry.forgetAll();
});

describe("a certificate", () => {
  const known = (principal: string, kind: "worker" | "person") =>
    db.transaction((tx) => keepPrincipalAs(tx, principal, kind));

  test("speaks for the machine that it was issued to, with the grants of that one", async () => {
    await known("attic", "worker");
    await db.transaction((tx) => insertGrant(tx, "attic", mayCancel, "root"));

    expect(await registry.identify(undefined, "attic")).toEqual({
      name: "attic",
      kind: "worker",
      grants: [...mayReadAll, mayCancel],
    });
  });

  test.each(["a-person", "nobody-knows-me", "anyone", "", "attic\0", "x".repeat(1_000)])(
    "that was issued to %j speaks for nobody",
    async (name) => {
      await known("a-person", "person");

      await expect(registry.identify(undefined, name)).rejects.toThrow("knows no machine called");
    },
  );

  test("does not take part where a token is sent", async () => {
    await known("attic", "worker");
    const { token } = await create("bert");

    expect(await registry.identify(`Bearer ${token}`, "attic")).toMatchObject({ name: "bert" });
  });
});

test("what is stored does not give the token back", async () => {
  const { token, id } = await create("bob");

  const rows = await db.many(
    z.object({ text: z.string() }),
    sql`select token::text as text from token where id = ${id}`,
  );

  expect(rows[0]?.text).toContain(id);
  expect(rows[0]?.text).not.toContain(token.slice("grange_".length));
});

test("a token that ran out is refused at that moment, though it was believed before", async () => {
  const { token, id } = await create("carol", 1_000);
  await registry.identify(`Bearer ${token}`);

  later(1_000);

  await expect(registry.identify(`Bearer ${token}`)).rejects.toMatchObject({
    code: "unauthenticated",
    message: expect.stringMatching(
      new RegExp(
        `^token ${id} of carol expired at .*\`grange token create carol\` creates another one$`,
      ),
    ),
  });
});

test("a revoked token is refused everywhere once its moment of belief is over", async () => {
  const { token, id } = await create("dave");
  await registry.identify(`Bearer ${token}`);

  await db.transaction((tx) => revokeToken(tx, id, "root", clock.now()));
  const here = callerRegistry(db, clock);
  later(callerCacheMs);

  for (const each of [here, registry]) {
    await expect(each.identify(`Bearer ${token}`)).rejects.toThrow(
      `token ${id} of dave was revoked`,
    );
  }
});

test("the server that changed rights knows it at once", async () => {
  const { token, id } = await create("erin");
  await registry.identify(`Bearer ${token}`);

  await db.transaction((tx) => revokeToken(tx, id, "root", clock.now()));
  registry.forgetAll();

  await expect(registry.identify(`Bearer ${token}`)).rejects.toThrow("was revoked");
});

test("who sends a token under a thousand names crowds nobody out", async () => {
  const [grace, heidi] = await Promise.all([create("grace"), create("heidi")]);
  let asked = 0;
  const counting = callerRegistry(
    {
      ...db,
      many: (...args) => {
        asked += 1;
        return db.many(...args);
      },
    },
    clock,
  );
  await counting.identify(`Bearer ${grace.token}`);
  await counting.identify(`Bearer ${heidi.token}`);
  const before = asked;

  for (let i = 0; i < 1_500; i += 1) {
    const basic = Buffer.from(`user${i}:${heidi.token}`).toString("base64");
    expect((await counting.identify(`Basic ${basic}`)).name).toBe("heidi");
  }

  expect((await counting.identify(`Bearer ${grace.token}`)).name).toBe("grace");
  expect(asked).toBe(before);
});

describe("a header that is no token's", () => {
  test.each([
    ["of another scheme", "Basic YWxpY2U6c2VjcmV0"],
    ["without a token", "Bearer"],
    ["with a megabyte", `Bearer grange_${"a".repeat(1_000_000)}`],
    ["with letters of elsewhere", `Bearer grange_${"ä".repeat(43)}`],
    ["with a line break", `Bearer ${newToken()}\nx`],
    ["with two tokens", `Bearer ${newToken()}, Bearer ${newToken()}`],
    ["with SQL", "Bearer ' or true --"],
    ["that is empty", ""],
  ])("%s is refused without asking the database", async (_, header) => {
    const deaf = callerRegistry(
      { ...db, many: () => Promise.reject(new Error("the database was asked")) },
      clock,
    );

    await expect(deaf.identify(header)).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("must be `Bearer ` and one token"),
    });
  });

  test("but has its shape is unknown, and is not remembered", async () => {
    await expect(registry.identify(`Bearer ${newToken()}`)).rejects.toThrow(
      "this farm does not know this token",
    );
  });

  test("and shares the public part of one is unknown, too", async () => {
    const { id } = await create("frank");
    const impostor = newToken();
    await db.run(sql`
      update token set hash = set_byte(hash, 31, 255 - get_byte(hash, 31)) where id = ${id}
    `);

    await expect(registry.identify(`Bearer ${impostor}`)).rejects.toThrow("does not know");
  });
});

test("a lookup that failed is tried anew by the next request", async () => {
  let isDown = true;
  const flaky = callerRegistry(
    { ...db, many: (...args) => (isDown ? Promise.reject(new Error("down")) : db.many(...args)) },
    clock,
  );
  await expect(flaky.identify(undefined)).rejects.toThrow("down");

  isDown = false;

  expect((await flaky.identify(undefined)).name).toBe("anyone");
});
