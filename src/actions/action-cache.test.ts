import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { lookUpActionResult, recordActionResult } from "./action-cache.ts";
import { outputTrees } from "./output-trees.ts";
import { resultWith, storedResult } from "./result.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const inProtected = TrustDomain.parse("protected");
const inPr7 = TrustDomain.parse("pr/7");
const inPr8 = TrustDomain.parse("pr/8");

/** Returns a new action for each test: tests share only the table. */
function newAction(domain: TrustDomain = inProtected) {
  const actionDigest = digestOf(Buffer.from(randomUUID()));
  return { project: "p", domain, actionDigest, executionId: randomUUID(), attempt: 1 };
}

/** Returns the store without some of its blobs. */
function without(store: BlobStore, ...gone: readonly Digest[]): BlobStore {
  const isGone = (digest: Digest) => gone.some((d) => digestKey(d) === digestKey(digest));
  return {
    ...store,
    get: async (digest) => (isGone(digest) ? undefined : store.get(digest)),
    findMissing: async (digests) => [
      ...(await store.findMissing(digests.filter((d) => !isGone(d)))),
      ...digests.filter(isGone),
    ],
  };
}

const store = memoryBlobStore();
const { result, blobs } = await storedResult(store);

describe("a recorded result", () => {
  test("is found again, with what made it", async () => {
    const action = newAction();

    expect(await recordActionResult(db, { ...action, result })).toBe("recorded");

    const hit = await lookUpActionResult(db, outputTrees(store), action);
    expect(hit).toMatchObject({
      result,
      domain: inProtected,
      origin: { kind: "execution", executionId: action.executionId, attempt: 1 },
    });
  });

  test("is another project's and another action's never", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });

    expect(
      await lookUpActionResult(db, outputTrees(store), { ...action, project: "q" }),
    ).toBeUndefined();
    expect(await lookUpActionResult(db, outputTrees(store), newAction())).toBeUndefined();
  });

  test.each<[string, Digest]>(Object.entries(blobs))(
    "is no hit once its %s is gone",
    async (_, gone) => {
      const action = newAction();
      await recordActionResult(db, { ...action, result });

      expect(
        await lookUpActionResult(db, outputTrees(without(store, gone)), action),
      ).toBeUndefined();
    },
  );

  test("is no hit when its Tree has rotted", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });
    const rotten: BlobStore = {
      ...store,
      get: async () => {
        throw new Fault("data_loss", "the bytes have changed");
      },
    };

    expect(await lookUpActionResult(db, outputTrees(rotten), action)).toBeUndefined();
  });

  test("a store that does not answer is no miss, but a failure", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });
    const away: BlobStore = {
      ...store,
      findMissing: async () => {
        throw new Fault("unavailable", "the store is away");
      },
    };

    await expect(lookUpActionResult(db, outputTrees(away), action)).rejects.toThrow("away");
  });

  test("recorded again by the same attempt changes nothing", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });

    await recordActionResult(db, { ...action, result: resultWith({}) });

    expect((await lookUpActionResult(db, outputTrees(store), action))?.result).toEqual(result);
  });

  test("gives way to that of a later execution", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });
    const executionId = randomUUID();

    await recordActionResult(db, { ...action, executionId, result: resultWith({}) });

    expect(await lookUpActionResult(db, outputTrees(store), action)).toMatchObject({
      origin: { executionId },
    });
  });

  test("is not there when its transaction was given up", async () => {
    const action = newAction();
    const failing = db.transaction(async (tx) => {
      await recordActionResult(tx, { ...action, result });
      throw new Error("the lease was lost");
    });

    await expect(failing).rejects.toThrow("the lease was lost");
    expect(await lookUpActionResult(db, outputTrees(store), action)).toBeUndefined();
  });

  test("knows when it was used last", async () => {
    const action = newAction();
    await recordActionResult(db, { ...action, result });
    const key = digestKey(action.actionDigest);
    await db.run(sql`
      update action_result
      set created_at = '2020-01-01', last_used_at = '2020-01-01'
      where action_digest = ${key}
    `);

    await lookUpActionResult(db, outputTrees(store), action);

    const [row] = await db.many(
      z.object({ last_used_at: z.date() }),
      sql`select last_used_at from action_result where action_digest = ${key}`,
    );
    expect(row?.last_used_at.getFullYear()).toBeGreaterThan(2020);
  });
});

describe("trust domains", () => {
  test("a pull request reads its own result before the protected one", async () => {
    const action = newAction();
    const own = randomUUID();
    await recordActionResult(db, { ...action, result });
    await recordActionResult(db, { ...action, domain: inPr7, executionId: own, result });

    expect(
      await lookUpActionResult(db, outputTrees(store), { ...action, domain: inPr7 }),
    ).toMatchObject({
      domain: inPr7,
      origin: { executionId: own },
    });
    expect(
      await lookUpActionResult(db, outputTrees(store), { ...action, domain: inPr8 }),
    ).toMatchObject({
      domain: inProtected,
    });
  });

  test("a pull request reads the protected one when its own is incomplete", async () => {
    const action = newAction();
    const lost = resultWith({ stdoutDigest: { hash: "a".repeat(64), sizeBytes: 3n } });
    await recordActionResult(db, { ...action, result });
    await recordActionResult(db, { ...action, domain: inPr7, result: lost });

    expect(
      await lookUpActionResult(db, outputTrees(store), { ...action, domain: inPr7 }),
    ).toMatchObject({
      domain: inProtected,
    });
  });

  test("nobody else reads what a pull request wrote", async () => {
    const action = newAction(inPr7);
    await recordActionResult(db, { ...action, result });

    for (const domain of [inProtected, inPr8, TrustDomain.parse("user/ada")]) {
      expect(
        await lookUpActionResult(db, outputTrees(store), { ...action, domain }),
      ).toBeUndefined();
    }
  });
});

test.each([1, -1, 137])("an action that ended with %i is not recorded", async (exitCode) => {
  const action = newAction();

  const outcome = await recordActionResult(db, { ...action, result: resultWith({ exitCode }) });

  expect(outcome).toBe("not_cacheable");
  expect(await lookUpActionResult(db, outputTrees(store), action)).toBeUndefined();
});

test("a result with an illegal path is refused", async () => {
  const climbing = resultWith({ outputFiles: [{ path: "../x" }] });

  await expect(recordActionResult(db, { ...newAction(), result: climbing })).rejects.toMatchObject({
    code: "invalid_argument",
  });
});
