import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { passingSecretsKey } from "#access/secrets/secrets-key.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { watch } from "#forge/outbox/watched.fixture.ts";
import { findWatched } from "#forge/repository.store.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { encryptStoredCredentials, openedWays } from "./repository-credentials.ts";

const url = await freshDatabase();
const [db, other] = [openPostgres({ url }), openPostgres({ url })];
afterAll(() => Promise.all([db.close(), other.close()]));

const token = "glpat-Xyzzy1234567890";
const slug = "https://git.example/team/app.git";
const address = `https://deploy:${token}@git.example/team/app.git`;
const key = passingSecretsKey();
const ways = openedWays(db, key);

/** As an earlier version wrote it. */
beforeEach(async () => {
  await db.script("truncate forge_repository cascade");
  await watch(db, "team/app");
  await db.run(sql`update forge_repository set kind = 'git', slug = ${address}, url = ${slug}`);
});

const everything = async () => {
  const rows = await db.many(
    z.object({ row: z.string() }),
    sql`
    select forge_repository::text as row from forge_repository
  `,
  );
  return rows.map(({ row }) => row).join("\n");
};

test("what was in clear is sealed by whichever server starts first, and opens as it was", async () => {
  expect(await everything()).toContain(token);

  const sealed = await Promise.all([
    encryptStoredCredentials(db, ways),
    encryptStoredCredentials(other, openedWays(other, key)),
  ]);

  expect(sealed.toSorted()).toEqual([0, 1]);
  const now = await everything();
  expect(now).not.toContain(token);
  expect(now).not.toContain(Buffer.from(token).toString("hex"));
  expect(await findWatched(db, "team/app")).toMatchObject({ slug, url: slug });
  expect(await ways.open({ kind: "git", slug })).toBe(address);
  expect(await encryptStoredCredentials(db, ways)).toBe(0);
});

test("with another key, or moved to another repository, it opens no more, and a sentence says what to do", async () => {
  await encryptStoredCredentials(db, ways);

  await expect(openedWays(db, passingSecretsKey()).open({ kind: "git", slug })).rejects.toThrow(
    /encrypted with another key .*restore that key/,
  );
  await db.run(sql`update forge_repository set slug = 'https://evil.example/x'`);
  await expect(ways.open({ kind: "git", slug: "https://evil.example/x" })).rejects.toMatchObject({
    code: "failed_precondition",
  });
});

test("what needs nothing to be let in stays as it is", async () => {
  await db.run(sql`update forge_repository set slug = '/srv/git/app.git'`);

  expect(await encryptStoredCredentials(db, ways)).toBe(0);
  expect(await ways.open({ kind: "git", slug: "/srv/git/app.git" })).toBe("/srv/git/app.git");
});
