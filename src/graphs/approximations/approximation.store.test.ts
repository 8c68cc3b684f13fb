import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { digestOf } from "#cas/digest-of.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import {
  actionOfApproximation,
  actionsAlike,
  forgetApproximations,
  keepApproximations,
} from "./approximation.store.ts";

const db = await freshDb();
afterAll(() => db.close());

const action = (text: string) => digestOf(Buffer.from(text));
const key = (approximation: string, domain: TrustDomain = protectedDomain) => ({
  project: "p",
  domain,
  approximation,
});
const ago = (minutes: number) =>
  db.run(sql`
    update approximation set created_at = created_at - make_interval(mins => ${minutes}),
      last_used_at = last_used_at - make_interval(mins => ${minutes})
  `);

test("a weak approximation leads to at most the newest eight actions", async () => {
  for (let i = 0; i < 12; i++) {
    await keepApproximations(db, [{ kind: "weak", ...key("w"), action: action(`${i}`) }]);
    await ago(1);
  }
  await keepApproximations(db, [{ kind: "weak", ...key("w"), action: action("5") }]);

  const found = await actionsAlike(db, key("w"), [protectedDomain]);

  expect(found).toEqual(["5", "11", "10", "9", "8", "7", "6", "4"].map(action));
  const [rows] = await db.many(
    z.object({ n: z.number() }),
    sql`select count(*) as n from approximation where approximation = 'w'`,
  );
  expect(rows?.n).toBe(8);
});

test("an over-approximation leads to one action: the one that was found last", async () => {
  await keepApproximations(db, [{ kind: "over", ...key("o"), action: action("a") }]);
  await keepApproximations(db, [{ kind: "over", ...key("o"), action: action("b") }]);

  expect(await actionOfApproximation(db, key("o"), [protectedDomain])).toEqual(action("b"));
  expect(await actionOfApproximation(db, key("other"), [protectedDomain])).toBeUndefined();
});

test("approximations of a pull request are visible only to it, and it also reads those of the protected branch", async () => {
  const own = TrustDomain.parse("pr/7");
  await keepApproximations(db, [
    { kind: "over", ...key("of the request", own), action: action("r") },
    { kind: "over", ...key("of the branch"), action: action("p") },
  ]);
  const asked = (name: string, domains: readonly TrustDomain[]) =>
    actionOfApproximation(db, key(name), domains);

  expect(await asked("of the request", [protectedDomain])).toBeUndefined();
  expect(await asked("of the request", [own, protectedDomain])).toEqual(action("r"));
  expect(await asked("of the branch", [own, protectedDomain])).toEqual(action("p"));
});

test("approximations that were not used for long are deleted", async () => {
  await ago(60 * 24 * 100);
  await keepApproximations(db, [{ kind: "over", ...key("new"), action: action("n") }]);

  await forgetApproximations(db, new Date(Date.now() - 90 * 24 * 3_600_000));

  const left = await db.many(
    z.object({ name: z.string() }),
    sql`select approximation as name from approximation`,
  );
  expect(left.map(({ name }) => name)).toEqual(["new"]);
});
