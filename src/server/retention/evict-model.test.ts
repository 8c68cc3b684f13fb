import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { recordActionResult } from "#actions/action-cache.ts";
import { outputTrees } from "#actions/output-trees.ts";
import { resultWith } from "#actions/result.fixture.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Evictable } from "#cas/evictable.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { ownNamespace } from "#cas/namespaces/namespace.ts";
import { defaultProject } from "#core/default-project.ts";
import { type Digest, digestFrom, digestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { evict } from "./evict.ts";
import { noClaims } from "./farm-claims.ts";

const db = await freshDb();
afterAll(() => db.close());

const hourMs = 60 * 60_000;
const limitBytes = 40_000;

function digestNumber(n: number): Digest {
  const { hash } = digestOf(Buffer.from(`blob ${n}`));
  return digestFrom("sha256", hash, 500 + ((n * 1_237) % 9_000));
}

/** A store of twenty blobs with its own clock, and results that name some of them. */
class Model {
  nowMs = Date.now();
  readonly blobs = new Map<string, { digest: Digest; lastUsedAt: Date }>();
  readonly results: { action: string; names: readonly Digest[] }[] = [];

  readonly stored: Evictable = {
    list: () => this.#list(),
    look: async (_, digest) => this.blobs.get(digestKey(digest)),
    removeUnused: async (_, digest, before) => {
      const found = this.blobs.get(digestKey(digest));
      return found !== undefined && found.lastUsedAt < before
        ? this.blobs.delete(digestKey(digest))
        : false;
    },
    putBack: async () => {},
  };

  async *#list() {
    // A copy: blobs that are removed meanwhile are still listed, as in a directory.
    const listed = [...this.blobs.values()];
    for (const blob of listed) yield { ...blob, namespace: ownNamespace };
  }

  use(digest: Digest): void {
    this.blobs.set(digestKey(digest), { digest, lastUsedAt: new Date(this.nowMs) });
  }

  has(digest: Digest): boolean {
    return this.blobs.has(digestKey(digest));
  }

  bytes(): number {
    return [...this.blobs.values()].reduce((sum, { digest }) => sum + digest.sizeBytes, 0);
  }

  async record(names: readonly Digest[]): Promise<void> {
    for (const digest of names) this.use(digest);
    const actionDigest = digestOf(Buffer.from(randomUUID()));
    const result = resultWith({
      outputFiles: names.map((digest, i) => ({ path: `${i}`, digest: toDigestMessage(digest) })),
    });
    const key = { project: defaultProject, domain: protectedDomain, actionDigest };
    await recordActionResult(db, { ...key, result, executionId: randomUUID(), attempt: 1 });
    this.results.push({ action: digestKey(actionDigest), names });
    await this.#used(digestKey(actionDigest), true);
  }

  /** Acts as a server: once an hour, it looks for all blobs and marks the result as used. */
  async serve(n: number): Promise<void> {
    const result = this.results[n % Math.max(1, this.results.length)];
    if (result === undefined || !result.names.every((name) => this.has(name))) return;
    for (const name of result.names) this.use(name);
    await this.#used(result.action, false);
  }

  async #used(action: string, isNew: boolean): Promise<void> {
    const now = new Date(this.nowMs);
    await db.run(sql`
      update action_result
      set last_used_at = ${now}, created_at = least(created_at, ${now})
      where action_digest = ${action}
        and (${isNew} or last_used_at < ${now}::timestamptz - interval '1 hour')
    `);
  }

  async recorded(): Promise<Set<string>> {
    const rows = await db.many(
      z.object({ key: z.string() }),
      sql`select action_digest as key from action_result`,
    );
    return new Set(rows.map(({ key }) => key));
  }
}

const blob = fc.integer({ min: 0, max: 19 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("use" as const), blob }),
  fc.record({
    kind: fc.constant("record" as const),
    blobs: fc.uniqueArray(blob, { maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant("serve" as const), n: fc.nat(50) }),
  fc.record({ kind: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ kind: fc.constant("evict" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Evicts, and returns the rules that the eviction broke. */
async function evictAndJudge(model: Model): Promise<string[]> {
  const before = new Map(model.blobs);
  const size = model.bytes();
  const store = memoryBlobStore();
  const services = {
    db,
    blobsOf: () => store,
    treesOf: () => outputTrees(store),
    stored: model.stored,
    pinned: noClaims,
  };
  const now = new Date(model.nowMs);

  const round = await evict(services, limitBytes, now, new AbortController().signal);

  const recorded = await model.recorded();
  const young = [...before.values()].filter(
    ({ lastUsedAt }) => model.nowMs - lastUsedAt.getTime() <= 3 * hourMs,
  );
  const torn = model.results.filter(
    ({ action, names }) =>
      recorded.has(action) &&
      names.every((name) => before.has(digestKey(name))) &&
      !names.every((name) => model.has(name)),
  );
  const problems: readonly (readonly [boolean, string])[] = [
    [size <= limitBytes && model.blobs.size < before.size, "it removed though there was room"],
    [young.some(({ digest }) => !model.has(digest)), "it removed a young blob"],
    [torn.length > 0, "it left a result without its blobs"],
    [round.bytes !== model.bytes(), "it counted wrongly"],
    [round.overBytes !== Math.max(0, model.bytes() - limitBytes), "it told wrongly what is over"],
    [round.overBytes > 0 && round.youngBytes !== model.bytes(), "it left what is old"],
  ];
  return problems.filter(([is]) => is).map(([, problem]) => problem);
}

async function take(model: Model, each: Step): Promise<string[]> {
  switch (each.kind) {
    case "use":
      model.use(digestNumber(each.blob));
      return [];
    case "record":
      await model.record(each.blobs.map((n) => digestNumber(n)));
      return [];
    case "serve":
      await model.serve(each.n);
      return [];
    case "wait":
      model.nowMs += each.minutes * 60_000;
      return [];
    case "evict":
      return evictAndJudge(model);
  }
}

test("after any history, what stays is whole, what is young stays, and the limit is kept or the rest told", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await db.run(sql`delete from action_result`);
      const model = new Model();
      const problems: string[] = [];

      for (const each of [...steps, { kind: "evict" as const }]) {
        problems.push(...(await take(model, each)));
      }

      expect(problems).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
