import { afterAll, describe, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { createToken } from "./create-token.ts";
import { createEnrolment, grantOfMachine, redeemEnrolment } from "./enrol.ts";
import { listEnrolments } from "./enrolment.store.ts";
import { grantsOf, insertGrant } from "./grant.store.ts";
import { requireNarrowingThatCounts } from "./narrowing.ts";
import { principalNamed } from "./principal.store.ts";
import type { Grant, MachineKind } from "./principal.ts";
import { mayDo } from "./require-grant.ts";
import { fingerprintOf, isEnrolmentShaped, isTokenShaped, newToken } from "./secret-token.ts";
import { revokeToken } from "./take-rights-away.ts";
import { forgetOffences, listQuarantined, noteOffence } from "./worker-offence.store.ts";

const db = await freshDb();
afterAll(() => db.close());

const now = new Date("2026-01-01T00:00:00Z");
const after = (ms: number) => new Date(now.getTime() + ms);
const hour = 3_600_000;

function offer(principal: string, changes: { kind?: MachineKind; pool?: string } = {}) {
  const kind = changes.kind ?? "worker";
  const grant = grantOfMachine(principal, kind, { pool: changes.pool });
  return db.transaction((tx) =>
    createEnrolment(
      tx,
      {
        principal,
        kind,
        grant,
        createdBy: "root",
        expiresInMs: hour,
        tokenExpiresInMs: undefined,
      },
      now,
    ),
  );
}
const redeem = (enrolment: string, own: string, at = now) =>
  db.transaction((tx) => redeemEnrolment(tx, enrolment, fingerprintOf(own), at));

describe("an enrolment token", () => {
  test("makes a machine known by a token that the machine made", async () => {
    const { token } = await offer("attic", { pool: "p*" });
    const own = newToken();

    const enrolled = await redeem(token, own);

    expect(isEnrolmentShaped(token)).toBe(true);
    expect(isTokenShaped(token)).toBe(false);
    expect(enrolled).toMatchObject({
      principal: "attic",
      tokenId: fingerprintOf(own).id,
      isNew: true,
    });
    expect(await principalNamed(db, "attic")).toEqual({ kind: "worker", quarantine: null });
    expect(await grantsOf(db, "attic")).toMatchObject([{ verb: "work", pool: "p*" }]);
  });

  test("is answered as the first time for the same token, and refused for any other", async () => {
    const { token, id } = await offer("barn");
    const own = newToken();
    await redeem(token, own);

    const again = await redeem(token, own, after(2 * hour));
    const other = redeem(token, newToken());

    expect(again).toMatchObject({ principal: "barn", isNew: false });
    await expect(other).rejects.toThrow(`the enrolment token ${id} was used already`);
  });

  test("makes one machine of two that hand it in at the same moment", async () => {
    const { token } = await offer("twin");

    const ends = await Promise.allSettled([redeem(token, newToken()), redeem(token, newToken())]);

    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("is good until it runs out or is revoked", async () => {
    const late = await offer("late");
    const ended = await offer("ended");
    await db.transaction((tx) => revokeToken(tx, ended.id, "root", now));

    await expect(redeem(late.token, newToken(), after(hour))).rejects.toThrow("has expired");
    await expect(redeem(ended.token, newToken())).rejects.toThrow("was revoked");
    expect(await listEnrolments(db)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ principal: "ended", kind: "worker", revokedBy: "root" }),
      ]),
    );
  });

  test("that was changed in its last letters is not known", async () => {
    const { token } = await offer("guess");
    const guessed = `${token.slice(0, -6)}AAAAAA`;

    await expect(redeem(guessed, newToken())).rejects.toThrow("does not know that enrolment token");
  });

  test("gives nobody the token of somebody else", async () => {
    const alices = await db.transaction((tx) =>
      createToken(tx, { principal: "alice", createdBy: "root", expiresInMs: undefined }, now),
    );
    const { token } = await offer("thief");

    await expect(redeem(token, alices.token)).rejects.toThrow("this token is already in use");
  });

  test("is not made for who is something else already", async () => {
    await db.transaction((tx) =>
      createToken(tx, { principal: "bob", createdBy: "root", expiresInMs: undefined }, now),
    );

    await expect(offer("bob")).rejects.toThrow("bob is a person here");
    await expect(offer("anyone")).rejects.toThrow("choose another name");
  });
});

test.each<[MachineKind, Grant["verb"], string, boolean]>([
  ["worker", "work", "", true],
  ["collector", "measure", "m1", true],
  ["collector", "measure", "m2", false],
  ["granary", "cache", "default", true],
  ["granary", "cache", "web", false],
  ["granary", "submit", "default", false],
])("a %s may %s in %j: %s", (kind, verb, repository, expected) => {
  const grants = [grantOfMachine("m1", kind, {})];

  expect(mayDo({ name: "m1", grants }, verb as "work", { repository, branch: "" })).toBe(expected);
});

test("a granary's grant reaches the projects that it names", () => {
  const grants = [grantOfMachine("g", "granary", { repository: "team/*" })];
  const may = (repository: string) =>
    mayDo({ name: "g", grants }, "cache", { repository, branch: "" });

  expect(["team/web", "default", "other"].map(may)).toEqual([true, false, false]);
});

test("a worker's grant reaches the pools of its pattern only", () => {
  const grants = [grantOfMachine("w", "worker", { pool: "ci-*" })];
  const may = (pool: string) =>
    mayDo({ name: "w", grants }, "work", { repository: "", branch: "", pool });

  expect([may("ci-linux"), may("release"), may("default")]).toEqual([true, false, false]);
});

test("what narrows nothing is refused, and what narrows is kept", async () => {
  const plain: Grant = {
    verb: "submit",
    repository: "*",
    branch: "*",
    priorityCap: null,
    top: false,
  };
  const narrow = { ...plain, pool: "ci", label: "gpu=*", sizeClassCap: 2, costCap: 90 };
  await db.transaction((tx) => insertGrant(tx, "carol", narrow, "root"));

  expect(await grantsOf(db, "carol")).toEqual([narrow]);
  expect(() => requireNarrowingThatCounts(narrow)).not.toThrow();
  expect(() => requireNarrowingThatCounts({ ...plain, verb: "administer", pool: "a" })).toThrow(
    "--pool limits only",
  );
  expect(() => requireNarrowingThatCounts({ ...plain, verb: "*", costCap: 1 })).toThrow(
    "--cost-cap limits only submit, clone, retrigger, activate, and not '*'",
  );
});

test("the third offence quarantines, until somebody releases", async () => {
  await offer("rogue");
  const offend = (what: string) =>
    noteOffence(db, { principal: "rogue", worker: "w", what }, 3, now);

  await offend("one");
  await offend("two");
  const before = await listQuarantined(db);
  await offend("three");
  const known = await principalNamed(db, "rogue");
  const isForgotten = await forgetOffences(db, "rogue");

  expect(before).toEqual([]);
  expect(known?.quarantine).toBe("three");
  expect(isForgotten).toBe(true);
  expect((await principalNamed(db, "rogue"))?.quarantine).toBeNull();
});
