import { afterAll, expect, test } from "vitest";
import { createToken } from "#access/create-token.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { principalOfIdentity } from "./principal-of-identity.ts";

const db = await freshDb();
afterAll(() => db.close());
const now = new Date("2026-01-01T00:00:00Z");

test("a name with tokens is given to who has verified that it is theirs, and not for an `@` in it", async () => {
  const name = "root@farm.example";
  await db.transaction((tx) =>
    createToken(tx, { principal: name, createdBy: "root", expiresInMs: undefined }, now),
  );
  const come = (isVerified: boolean) =>
    db.transaction((tx) =>
      principalOfIdentity(
        tx,
        { issuer: "https://p.example", subject: "1", name, isVerified, groups: [] },
        now,
      ),
    );

  await expect(come(false)).rejects.toMatchObject({ code: "permission_denied" });
  expect(await come(true)).toBe(name);
});
