import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "#core/clock.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { everybody, type Principal } from "../principal.ts";
import { secretService } from "./secret-service.ts";
import { openSecretsKey, passingSecretsKey } from "./secrets-key.ts";

const db = await freshDb();
const directory = mkdtempSync(join(tmpdir(), "grange-secrets-key-"));
afterAll(async () => {
  await db.close();
  rmSync(directory, { recursive: true });
});

const audited: unknown[] = [];
const audit = async (_: unknown, by: string, detail: object) =>
  void audited.push({ by, ...detail });
const key = await openSecretsKey(directory);
const service = secretService({ db, key, clock: systemClock, audit });
const root: Principal = { ...everybody, name: "root" };
const value = "correct horse battery";
const b64 = (text: string) => Buffer.from(text).toString("base64");
const place = { repository: "rxjs", branch: "main", domain: protectedDomain };
const request = { name: "KEY", repository: "rxjs", branch: "main", users: null, value: b64(value) };
const opened = async (domain = protectedDomain) => {
  const [found] = await service.valuesOf(await service.referTo(["KEY"], place), domain);
  return Buffer.from(found?.value ?? []).toString();
};

beforeEach(async () => {
  await db.script("delete from secret");
  audited.length = 0;
});

test("what is set for a branch is given there, and a list tells all but the value", async () => {
  const set = await service.set(request, root);

  expect(await opened()).toBe(value);
  expect(await service.list(root)).toEqual([set]);
  expect(set).toMatchObject({ name: "KEY", version: 1, setBy: "root" });
  expect(JSON.stringify([set, audited])).not.toContain(value);
  expect(JSON.stringify([set, audited])).not.toContain(b64(value));
  expect(audited).toMatchObject([{ by: "root", what: "set secret", name: "KEY" }]);
});

test("another value is another version; what was prepared with the older one is not given the newer", async () => {
  await service.set(request, root);
  const before = await service.referTo(["KEY"], place);
  const second = await service.set({ ...request, value: b64("another long value") }, root);

  expect(second.version).toBe(2);
  expect(await opened()).toBe("another long value");
  await expect(service.valuesOf(before, protectedDomain)).rejects.toThrow("KEY was changed after");
  await service.remove(request, root);
  await expect(service.valuesOf(before, protectedDomain)).rejects.toThrow("KEY was removed after");
  await expect(service.referTo(["KEY"], place)).rejects.toThrow(
    "the secret KEY is not available to runs on main of rxjs",
  );
});

test("a secret that was removed and set again is another one", async () => {
  await service.set(request, root);
  const before = await service.referTo(["KEY"], place);
  await service.remove(request, root);
  await service.set(request, root);

  expect(await service.referTo(["KEY"], place)).not.toEqual(before);
  await expect(service.valuesOf(before, protectedDomain)).rejects.toThrow("was removed");
});

test("who hands out asks the domain again, whatever an action says", async () => {
  await service.set({ ...request, users: "alice" }, root);

  expect(await opened(TrustDomain.parse("user/alice"))).toBe(value);
  await expect(opened(TrustDomain.parse("user/bob"))).rejects.toThrow("bob runs in a domain");
  await expect(opened(TrustDomain.parse("pr/7@rxjs"))).rejects.toThrow("never available to a pull");
});

test("the table holds no value, and a row that somebody altered opens no more", async () => {
  await service.set(request, root);
  await service.set({ ...request, branch: "try", value: b64("of the try branch") }, root);
  const rows = await db.many(
    z.object({ all: z.string() }),
    sql`select secret::text as all from secret`,
  );
  expect(rows.map(({ all }) => all).join()).not.toContain(Buffer.from(value).toString("hex"));

  await db.run(sql`update secret set branch = 'everywhere' where branch = 'main'`);
  const moved = { ...place, branch: "everywhere" };
  const wider = await service.referTo(["KEY"], moved);
  await expect(service.valuesOf(wider, protectedDomain)).rejects.toThrow("cannot be decrypted");

  await db.run(sql`update secret set branch = 'main' where branch = 'everywhere'`);
  await db.run(sql`
    update secret set sealed = (select sealed from secret where branch = 'main') where branch = 'try'`);
  const swapped = await service.referTo(["KEY"], { ...place, branch: "try" });
  await expect(service.valuesOf(swapped, protectedDomain)).rejects.toThrow("cannot be decrypted");
  expect(await opened()).toBe(value);
});

test("a server with another key says so, and one with the same file opens all", async () => {
  await service.set(request, root);
  const references = await service.referTo(["KEY"], place);
  const stranger = secretService({ db, key: passingSecretsKey(), clock: systemClock, audit });
  const twin = secretService({
    db,
    key: await openSecretsKey(directory),
    clock: systemClock,
    audit,
  });

  await expect(stranger.valuesOf(references, protectedDomain)).rejects.toThrow(
    "GRANGE_SECRETS_KEY",
  );
  expect(await twin.valuesOf(references, protectedDomain)).toMatchObject([{ name: "KEY" }]);
});

test("only who may keep secrets there sets, lists and removes them", async () => {
  const grant = { verb: "secret", priorityCap: null, top: false } as const;
  const alice = {
    ...everybody,
    name: "alice",
    grants: [{ ...everybody.grants[0], ...grant, repository: "rxjs", branch: "try/*" }],
  } as Principal;
  await service.set(request, root);

  await expect(service.set(request, alice)).rejects.toThrow("alice may not secret on main of rxjs");
  await expect(service.set({ ...request, branch: "*" }, alice)).rejects.toThrow("may not");
  await expect(service.remove(request, alice)).rejects.toThrow("may not");
  await service.set({ ...request, branch: "try/*" }, alice);
  expect((await service.list(alice)).map(({ branch }) => branch)).toEqual(["try/*"]);
  await expect(service.list({ name: "bob", grants: [] })).rejects.toThrow("bob may not");
});

test.each([
  ["short", "1234567", "at least 8 bytes"],
  ["long", "x".repeat(32 * 1024 + 1), "at most 32768 bytes"],
])("a value that is too %s is refused", async (_, text, why) => {
  await expect(service.set({ ...request, value: b64(text) }, root)).rejects.toThrow(why);
});

test("two who set the same secret at once get versions of their own", async () => {
  const set = await Promise.all(
    [1, 2, 3].map((n) => service.set({ ...request, value: b64(`value number ${n}`) }, root)),
  );

  expect(set.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(await opened()).toMatch(/^value number [123]$/);
});

test("the key is made once, for nobody else to read; a file that holds none is refused", async () => {
  const file = join(directory, "secrets.key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  const [one, other] = await Promise.all(
    [1, 2].map(() => openSecretsKey(directory, join(directory, "shared"))),
  );
  expect(one?.id).toBe(other?.id);

  writeFileSync(join(directory, "broken"), "no key");
  await expect(openSecretsKey(directory, join(directory, "broken"))).rejects.toThrow(
    "is not a key for secrets",
  );
});
