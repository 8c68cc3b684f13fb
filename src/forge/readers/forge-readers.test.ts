import pino from "pino";
import { afterAll, beforeEach, expect, test } from "vitest";
import { effectiveGrants } from "#access/grant.store.ts";
import { matchesPattern } from "#access/matches-pattern.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { AccountStanding } from "../forge.ts";
import {
  type AdminServices,
  forgetRepository,
  removeAccount,
  setAccount,
  setPolicy,
} from "../forge-admin.ts";
import { memoryForge } from "../memory-forge.fixture.ts";
import { watch } from "../outbox/watched.fixture.ts";
import { type ForgeReaders, openForgeReaders } from "./forge-readers.ts";
import { linkAccountOfProvider } from "./provider-links.ts";

const db = await freshDb();
const logger = pino({ level: "silent" });
const minuteMs = 60_000;
let shiftMs = 0;
const clock = { now: () => new Date(Date.now() + shiftMs) };
let forge: ReturnType<typeof memoryForge>;
let readers: ForgeReaders;

const never = () => Promise.reject<never>(new Error("nobody asks this of it here"));
const admin = (): AdminServices => ({
  db,
  clock,
  forges: [forge],
  nameRepository: never,
  sealWay: () => {
    throw new Error("nobody asks this of it here");
  },
  record: async () => {},
});

beforeEach(async () => {
  // A private farm.
  await db.run(sql`delete from grant_rule`);
  await db.run(sql`truncate forge_repository, forge_account, temporary_right cascade`);
  shiftMs = 0;
  forge = memoryForge();
  readers = openForgeReaders({ db, clock, logger, forges: [forge] });
  await watch(db, "demo", { readers: "read" });
  await setAccount(admin(), {
    principal: "alice",
    kind: "github",
    account: "Octocat",
    linkedBy: "root",
  });
});
afterAll(() => db.close());

/** Whether a principal may read a repository after its request was prepared. */
async function mayRead(principal: string, repository = "demo", by = readers): Promise<boolean> {
  await by.refresh(principal);
  return (await effectiveGrants(db, [principal])).some(
    (grant) => grant.verb === "read" && matchesPattern(grant.repository, repository),
  );
}

const callsOf = () => forge.calls.get("permission") ?? 0;

test("an account that may read at the forge reads here: that repository, its logs and its sources", async () => {
  forge.permissions.set("octocat", "read");
  await watch(db, "other", { readers: "write" });
  await watch(db, "apart");

  expect(await mayRead("alice")).toBe(true);
  const grants = await effectiveGrants(db, ["alice"]);
  expect(grants.map(({ verb, repository, branch }) => [verb, repository, branch])).toEqual([
    ["read", "demo", "*"],
    ["read-logs", "demo", "*"],
    ["read-sources", "demo", "*"],
  ]);
});

test("an account without the permission, and a principal without an account, may not", async () => {
  forge.permissions.set("octocat", "none");

  expect(await mayRead("alice")).toBe(false);
  expect(await mayRead("bob")).toBe(false);
  expect(callsOf()).toBe(1);
});

test("an answer is used for five minutes, and renewed beside the request after that", async () => {
  forge.permissions.set("octocat", "read");
  for (let n = 0; n < 5; n++) await mayRead("alice");
  const first = callsOf();
  shiftMs = 6 * minuteMs;
  forge.permissions.set("octocat", "none");
  const meanwhile = await mayRead("alice");
  await readers.stop();

  expect(first).toBe(1);
  // The old answer counts while the new one is on its way.
  expect(meanwhile).toBe(true);
  expect(callsOf()).toBe(2);
  expect(await effectiveGrants(db, ["alice"])).toEqual([]);
});

test("a forge that does not answer denies once the last answer is 15 minutes old", async () => {
  shiftMs = -14 * minuteMs;
  forge.permissions.set("octocat", "read");
  await mayRead("alice");
  forge.fails = () => true;
  shiftMs = 0;
  const soon = await mayRead("alice");
  await db.run(sql`update temporary_right set until = until - interval '2 minutes'`);
  await db.run(sql`update forge_reading set checked_at = checked_at - interval '2 minutes'`);
  const late = await mayRead("alice");

  expect(soon).toBe(true);
  expect(late).toBe(false);
});

/** A forge that answers `read` when the test says so. */
function slowForge() {
  const pulls = forge.pullRequests;
  if (pulls === undefined) throw new Error("unreachable");
  const state = { answer: () => {}, called: () => {} };
  const asked = new Promise<void>((resolve) => {
    state.called = resolve;
  });
  const standing = () => {
    state.called();
    return new Promise<AccountStanding>((resolve) => {
      state.answer = () => resolve({ permission: "read", accountId: "1" });
    });
  };
  return {
    forge: { ...forge, pullRequests: { ...pulls, standing } },
    /** Resolves when it was called. */
    asked,
    answer: () => state.answer(),
  };
}

test("a request waits for a slow forge only for a limited time, and may not read meanwhile", async () => {
  const slow = slowForge();
  const patient = openForgeReaders({ db, clock, logger, forges: [slow.forge], waitMs: 20 });
  const meanwhile = await mayRead("alice", "demo", patient);
  slow.answer();
  await patient.stop();

  expect(meanwhile).toBe(false);
  expect(await effectiveGrants(db, ["alice"])).toHaveLength(3);
});

test("of the answers that two servers got, the one of the later call counts", async () => {
  const slow = slowForge();
  const other = openForgeReaders({ db, clock, logger, forges: [slow.forge], waitMs: 1 });
  await other.refresh("alice");
  await slow.asked;
  shiftMs = 1_000;
  forge.permissions.set("octocat", "none");
  await readers.refresh("alice");
  slow.answer();
  await other.stop();

  expect(await effectiveGrants(db, ["alice"])).toEqual([]);
});

test("many requests at once call the forge once", async () => {
  forge.permissions.set("octocat", "read");

  const all = await Promise.all(Array.from({ length: 20 }, () => mayRead("alice")));

  expect(all.every(Boolean)).toBe(true);
  expect(callsOf()).toBe(1);
});

test("another account that got the name of a linked one reads nothing", async () => {
  forge.permissions.set("octocat", "read");
  forge.accountIds.set("octocat", "583231");
  const before = await mayRead("alice");
  forge.accountIds.set("octocat", "999999");
  shiftMs = 16 * minuteMs;

  expect(before).toBe(true);
  expect(await mayRead("alice")).toBe(false);
});

test("the right ends at once with the link, the policy and the watch", async () => {
  forge.permissions.set("octocat", "read");
  const rights = async () => (await effectiveGrants(db, ["alice"])).length;
  await mayRead("alice");
  const given = await rights();
  await removeAccount(admin(), { principal: "alice", kind: "github" });
  const unlinked = await rights();
  await setAccount(admin(), {
    principal: "alice",
    kind: "github",
    account: "octocat",
    linkedBy: "root",
  });
  readers.forgetAll();
  await mayRead("alice");
  const again = await rights();
  await setPolicy(admin(), "demo", { readers: "nobody" });
  const changed = await rights();
  await setPolicy(admin(), "demo", { readers: "read" });
  readers.forgetAll();
  await mayRead("alice");
  await forgetRepository(admin(), "demo");

  expect([given, unlinked, again, changed, await rights()]).toEqual([3, 0, 3, 0, 0]);
});

test("an answer that comes after the link has changed gives no right", async () => {
  const slow = slowForge();
  const late = openForgeReaders({ db, clock, logger, forges: [slow.forge], waitMs: 1 });
  await late.refresh("alice");
  await slow.asked;
  await setAccount(admin(), {
    principal: "alice",
    kind: "github",
    account: "mona",
    linkedBy: "root",
  });
  slow.answer();
  await late.stop();

  expect(await effectiveGrants(db, ["alice"])).toEqual([]);
});

test("the account that an identity provider names is linked, but not over one that an administrator linked", async () => {
  const said = (principal: string, account: string | undefined) =>
    db.transaction((tx) =>
      linkAccountOfProvider(
        tx,
        { principal, kind: "github", issuer: "https://login.example", account },
        clock.now(),
      ),
    );
  forge.permissions.set("mona", "read");
  await said("carol", "Mona");
  const linked = await mayRead("carol");
  await said("carol", undefined);
  readers.forgetAll();
  const unlinked = await mayRead("carol");
  forge.permissions.set("octocat", "none");
  await said("alice", "mona");

  expect([linked, unlinked, await mayRead("alice")]).toEqual([true, false, false]);
});
