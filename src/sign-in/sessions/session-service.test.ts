import { afterAll, beforeAll, expect, test } from "vitest";
import { keepPrincipal } from "#access/principal.store.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { forgetOldSignIns } from "../forget-old.ts";
import { fingerprintOfSecret } from "./browser-secret.ts";
import { storedSession } from "./session.store.ts";
import { type SessionService, sessionService } from "./session-service.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeAll(() => keepPrincipal(db, "alice"));

const minute = 60_000;
let now = new Date("2026-01-01T00:00:00Z");
const clock = { now: () => now };
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
const times = { idleMs: 10 * minute, wholeMs: 60 * minute };
const [service, other] = [sessionService(db, clock, times), sessionService(db, clock, times)];

async function begin(at: SessionService = service, formerSecret?: string): Promise<string> {
  const begun = await db.transaction((tx) =>
    at.begin(tx, {
      principal: "alice",
      groups: [],
      voucher: { kind: "provider", issuer: "https://p.example", subject: "1" },
      notAfter: null,
      formerSecret,
    }),
  );
  return begun.secret;
}

test("who comes again in time stays signed in, but not beyond the whole time", async () => {
  const secret = await begin();

  for (let n = 0; n < 11; n += 1) {
    later(5 * minute);
    expect((await (n % 2 === 0 ? service : other).find(secret)).kind).toBe("live");
  }
  later(5 * minute);

  expect(await service.find(secret)).toEqual({ kind: "over", principal: "alice", why: "aged" });
});

test("who stays away is signed out, on every server", async () => {
  const secret = await begin();
  await service.find(secret);

  later(10 * minute);

  for (const each of [service, other]) {
    expect(await each.find(secret)).toMatchObject({ kind: "over", why: "idle" });
  }
});

test("the end of a session is seen elsewhere within two seconds, though it was believed before", async () => {
  const secret = await begin();
  await other.find(secret);

  await begin(service, secret);
  later(2_000);

  expect(await other.find(secret)).toMatchObject({ kind: "over", why: "signed out" });
});

test("its last use is written down once a minute, however often it is used", async () => {
  const secret = await begin();
  const { id } = fingerprintOfSecret(secret);
  const seen = new Set<number>();

  for (let n = 0; n < 13; n += 1) {
    later(10_000);
    await service.find(secret);
    seen.add((await storedSession(db, id))?.seenAt.getTime() ?? 0);
  }

  expect(seen.size).toBeLessThanOrEqual(3);
});

test("what lies in the table does not sign anybody in", async () => {
  const { id, hash } = fingerprintOfSecret(await begin());

  for (const guess of [id, hash.toString("hex"), hash.toString("base64url"), ""]) {
    expect(await service.find(guess)).toEqual({ kind: "unknown" });
  }
});

test("a session that ended is remembered for a week, then forgotten", async () => {
  const secret = await begin();
  later(61 * minute);
  await forgetOldSignIns(db, now);
  expect((await service.find(secret)).kind).toBe("over");

  later(8 * 24 * 60 * minute);
  await forgetOldSignIns(db, now);

  expect((await service.find(secret)).kind).toBe("unknown");
});
