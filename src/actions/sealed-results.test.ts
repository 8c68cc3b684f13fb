import { generateKeyPairSync, randomUUID, sign, verify } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { digestKey } from "#core/digest.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { lookUpActionResult, recordActionResult } from "./action-cache.ts";
import { saveActionResult } from "./action-result.store.ts";
import { adoptResults } from "./adopt-results.ts";
import { keepClientResult } from "./client-results.ts";
import { lookUpByHash } from "./look-up-by-hash.ts";
import { resultsOfActions } from "./many-results.store.ts";
import { outputTrees } from "./output-trees.ts";
import { resultWith, storedResult } from "./result.fixture.ts";
import { resultSeals, type SealingKey } from "./result-seals.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() =>
  db.script(`
    truncate action_result;
    update result_adoption set before = now(), done_at = null, key_id = null, results = null;
  `),
);

function aKey(id: string): SealingKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    id,
    sign: (bytes) => sign(null, bytes, privateKey),
    verify: (keyId, bytes, signature) => keyId === id && verify(null, bytes, publicKey, signature),
  };
}
const key = aKey("ours");
const store = memoryBlobStore();
const { result } = await storedResult(store);
const protectedOnes = TrustDomain.parse("protected");
const inPull = TrustDomain.parse("pr/7@a/b");

/** The parts of one server that store results; each server has its own cache. */
function aServer(with_: SealingKey = key) {
  const refused: string[] = [];
  const seals = resultSeals(with_, ({ action }) => refused.push(action));
  return { seals, refused, trees: outputTrees(store, seals) };
}

function newAction(domain = protectedOnes) {
  const actionDigest = digestOf(Buffer.from(randomUUID()));
  return { project: "p", domain, actionDigest };
}

async function recorded(server = aServer(), domain = protectedOnes, made = result) {
  const action = newAction(domain);
  const finished = { ...action, result: made, executionId: randomUUID(), attempt: 1, worker: "w" };
  await recordActionResult(db, finished, server.seals);
  return finished;
}

describe("a recorded result", () => {
  test("serves every server that has the key", async () => {
    const action = await recorded();

    const hit = await lookUpActionResult(db, aServer().trees, action);

    expect(hit).toMatchObject({ result, origin: { worker: "w", attempt: 1 } });
  });

  test.each([
    ["has another worker", "worker = 'v'"],
    ["has another attempt", "attempt = 2"],
    ["comes from another execution", `execution_id = '${randomUUID()}'`],
    ["has other bytes", `result = '\\x2a00'`],
    ["lost its signature", "key_id = null, signature = null"],
    ["has a signature of nothing", `signature = '\\x00'`],
    ["is of an unknown key", "key_id = 'theirs'"],
    ["is said to be adopted", "adopted = true"],
    ["is another project's", "project = 'q'"],
    ["is another domain's no more", "domain = 'protected'"],
  ])("that %s is no hit, and is told each time", async (what, change) => {
    const ofPull = what.includes("domain");
    const { project, ...action } = await recorded(aServer(), ofPull ? inPull : protectedOnes);
    await db.script(`update action_result set ${change}`);
    const server = aServer();
    const asked = {
      ...action,
      domain: protectedOnes,
      project: change.startsWith("project") ? "q" : project,
    };

    expect(await lookUpActionResult(db, server.trees, asked)).toBeUndefined();
    expect(await lookUpActionResult(db, server.trees, asked, "clients too")).toBeUndefined();
    expect(await lookUpByHash(db, server.trees, asked, action.actionDigest.hash)).toBeUndefined();
    const many = await resultsOfActions(db, asked.project, [protectedOnes], [action.actionDigest]);
    expect(await server.seals.thatHold(many)).toEqual([]);
    expect(server.refused).toEqual(Array(4).fill(digestKey(action.actionDigest)));
    expect(server.seals.counts.refused).toBe(4);
  });

  test("swapped with another action's, signature and all, is no hit", async () => {
    const server = aServer();
    const one = await recorded(server);
    const other = await recorded(server, protectedOnes, resultWith({ exitCode: 0 }));
    await db.run(sql`
      update action_result as mine
      set result = theirs.result, key_id = theirs.key_id, signature = theirs.signature,
          execution_id = theirs.execution_id
      from action_result as theirs
      where mine.action_digest <> theirs.action_digest
    `);

    for (const each of [server, aServer()]) {
      expect(await lookUpActionResult(db, each.trees, one)).toBeUndefined();
      expect(await lookUpActionResult(db, each.trees, other)).toBeUndefined();
    }
  });

  test("that nobody may use is made again, and then serves", async () => {
    const server = aServer();
    const action = await recorded(server);
    await db.run(sql`update action_result set result = ''::bytea`);

    const again = { ...action, executionId: randomUUID() };
    await recordActionResult(db, again, server.seals);

    const hit = await lookUpActionResult(db, server.trees, action);
    expect(hit?.origin).toMatchObject({ executionId: again.executionId });
  });

  test("of another farm's key serves nobody here", async () => {
    const action = await recorded(aServer(aKey("theirs")));
    const impostor = await recorded(aServer(aKey("ours")));

    expect(await lookUpActionResult(db, aServer().trees, action)).toBeUndefined();
    expect(await lookUpActionResult(db, aServer().trees, impostor)).toBeUndefined();
  });

  test("of a pull request needs no signature, and serves it alone", async () => {
    const server = aServer();
    const action = await recorded(server, inPull);

    expect(await lookUpActionResult(db, server.trees, action)).toMatchObject({ domain: inPull });
    for (const domain of [protectedOnes, TrustDomain.parse("pr/7@a/c")])
      expect(await lookUpActionResult(db, server.trees, { ...action, domain })).toBeUndefined();
    expect(await lookUpByHash(db, server.trees, action, action.actionDigest.hash)).toBeDefined();
    const ofAll = { ...action, domain: protectedOnes };
    expect(await lookUpByHash(db, server.trees, ofAll, ofAll.actionDigest.hash)).toBeUndefined();
  });
});

describe("a client's result", () => {
  test("is signed with the client's name", async () => {
    const server = aServer();
    const action = newAction();
    await keepClientResult(db, server.trees, { ...action, result, principal: "ci" });

    const look = () => lookUpActionResult(db, aServer().trees, action, "clients too");
    expect((await look())?.origin).toEqual({ kind: "client", principal: "ci" });
    await db.run(sql`update action_result set written_by = 'root'`);
    expect(await look()).toBeUndefined();
  });

  test("takes the place of a worker's that nobody may use", async () => {
    const server = aServer();
    const action = await recorded(server);
    const written = { ...newAction(), actionDigest: action.actionDigest, result, principal: "ci" };
    expect(await keepClientResult(db, server.trees, written)).toEqual({ kind: "known" });

    await db.run(sql`update action_result set signature = ''::bytea`);

    expect(await keepClientResult(db, server.trees, written)).toEqual({ kind: "kept" });
    const hit = await lookUpActionResult(db, aServer().trees, action, "clients too");
    expect(hit?.origin).toMatchObject({ kind: "client" });
  });
});

describe("results from before the farm signed", () => {
  const mark = async () => {
    const [row] = await db.many(
      z.object({ keyId: z.string().nullable(), results: z.number().nullable() }),
      sql`select key_id as "keyId", results::integer as results from result_adoption`,
    );
    return row;
  };
  const adopt = (atOnce?: number) =>
    adoptResults(db, { ...aServer().seals, keyId: key.id }, new Date(), atOnce);

  /** Stores a result as an older version did. */
  async function old(domain = protectedOnes) {
    const action = { ...newAction(domain), executionId: randomUUID(), attempt: 1 };
    await recordActionResult(db, { ...action, result });
    await db.run(sql`update result_adoption set before = now() + interval '1 second'`);
    return action;
  }

  test("serve when they were signed, once, and say so", async () => {
    const actions = [await old(), await old(), await old()];
    const ofPull = await old(inPull);
    expect(await lookUpActionResult(db, aServer().trees, actions[0] ?? ofPull)).toBeUndefined();

    expect(await adopt(2)).toEqual({ kind: "adopted", results: 3 });

    for (const action of actions)
      expect(await lookUpActionResult(db, aServer().trees, action)).toBeDefined();
    expect(await mark()).toEqual({ keyId: "ours", results: 3 });
    const rows = await db.many(
      z.object({ domain: z.string(), adopted: z.boolean() }),
      sql`select distinct domain, adopted from action_result order by domain`,
    );
    expect(rows).toEqual([
      { domain: inPull, adopted: false },
      { domain: protectedOnes, adopted: true },
    ]);
  });

  test("are signed by one of two servers that start at once", async () => {
    const action = await old();

    const ends = await Promise.all([adopt(), adopt()]);

    expect(ends.map(({ kind }) => kind).toSorted()).toEqual(["adopted", "done before"]);
    expect(await lookUpActionResult(db, aServer().trees, action)).toBeDefined();
  });

  test("that somebody puts there later are never signed", async () => {
    await old();
    await adopt();
    const planted = await old();

    expect(await adopt()).toEqual({ kind: "done before", keyId: "ours" });
    expect(await lookUpActionResult(db, aServer().trees, planted)).toBeUndefined();
  });

  test("are not signed again when somebody sets that back on a farm that has signed since", async () => {
    await adopt();
    await recorded();
    const planted = await old();
    await db.run(sql`update result_adoption set done_at = null, key_id = null, results = null`);

    expect(await adopt()).toEqual({ kind: "refused" });
    expect(await lookUpActionResult(db, aServer().trees, planted)).toBeUndefined();
  });

  test("do not include what was made after the farm could sign", async () => {
    const action = newAction();
    const bytes = { ...action, executionId: randomUUID(), attempt: 1, result: new Uint8Array() };
    await db.run(sql`update result_adoption set before = now() - interval '1 hour'`);
    await saveActionResult(db, bytes);

    expect(await adopt()).toEqual({ kind: "adopted", results: 0 });
  });

  test("are signed by the server that is left when the first one died", async () => {
    const action = await old();
    const dying = {
      keyId: key.id,
      sealOf: () => {
        throw new Error("killed");
      },
    };

    await expect(adoptResults(db, dying, new Date())).rejects.toThrow("killed");

    expect(await mark()).toEqual({ keyId: null, results: null });
    expect(await adopt()).toEqual({ kind: "adopted", results: 1 });
    expect(await lookUpActionResult(db, aServer().trees, action)).toBeDefined();
  });
});
