import { afterAll, expect, test } from "vitest";
import { callerRegistry } from "#access/caller-registry.ts";
import { createToken } from "#access/create-token.ts";
import { newToken } from "#access/secret-token.ts";
import { revokeToken } from "#access/take-rights-away.ts";
import { requestLimits } from "#api/request-limits.ts";
import { systemClock } from "#core/clock.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { limitWrongTokens } from "./limit-wrong-tokens.ts";
import { openRequestLimits } from "./request-limits.ts";

const db = await freshDb();
afterAll(() => db.close());

const address = "192.0.2.1";
const { burst } = requestLimits["wrong-tokens"];
const header = (token: string) => `Bearer ${token}`;
const create = (principal: string) =>
  db.transaction((tx) =>
    createToken(tx, { principal, createdBy: "root", expiresInMs: undefined }, new Date()),
  );

function registry(source = db) {
  return limitWrongTokens(
    callerRegistry(source, systemClock),
    openRequestLimits(1, () => 0),
  );
}

async function guess(callers: ReturnType<typeof registry>, times: number) {
  const codes: string[] = [];
  for (let n = 0; n < times; n++) {
    await callers.identify(header(newToken()), undefined, address).catch(({ code }) => {
      codes.push(code);
    });
  }
  return codes;
}

test("guesses at once are counted before their look-ups end", async () => {
  const callers = registry();
  const codes = (
    await Promise.all(Array.from({ length: 2 * burst }, () => guess(callers, 1)))
  ).flat();

  expect(codes.filter((code) => code === "unauthenticated")).toHaveLength(burst);
  expect(codes.filter((code) => code === "resource_exhausted")).toHaveLength(burst);
});

test("one wrong token counts once, and valid ones do not count", async () => {
  const callers = registry();
  const [old, { token }] = [header(newToken()), await create("alice")];
  for (let n = 0; n < 2 * burst; n++) {
    await expect(callers.identify(old, undefined, address)).rejects.toMatchObject({
      code: "unauthenticated",
    });
    expect((await callers.identify(header(token), undefined, address)).name).toBe("alice");
  }

  expect(await guess(callers, burst)).toEqual([
    ...Array(burst - 1).fill("unauthenticated"),
    "resource_exhausted",
  ]);
});

test("a token that was seen valid and is revoked is judged, and is wrong from then on", async () => {
  const callers = registry();
  const { token, id } = await create("bob");
  await callers.identify(header(token), undefined, address);
  await guess(callers, burst);
  await db.transaction((tx) => revokeToken(tx, id, "root", new Date()));
  callers.forgetAll();
  const again = () => callers.identify(header(token), undefined, address);

  await expect(again()).rejects.toThrow("was revoked");
  await expect(again()).rejects.toThrow("was revoked");
});

test("a failure of the database is no wrong token", async () => {
  const callers = registry({ ...db, many: () => Promise.reject(new Error("down")) });

  for (let n = 0; n <= burst; n++) {
    await expect(callers.identify(header(newToken()), undefined, address)).rejects.toThrow("down");
  }
});
