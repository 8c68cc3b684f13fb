import { createHash, randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { Namespace } from "#cas/namespaces/namespace.ts";
import { systemClock } from "#core/clock.ts";
import { Digest } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { blobIndex } from "./blob-index.store.ts";

const db = await freshDb();
const index = blobIndex(db, systemClock);
const project = Namespace.parse("projects/begun");
afterAll(() => db.close());

/** A new blob and the key of an object for it. */
function newBlob() {
  const bytes = randomBytes(100);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const digest = Digest.parse({ hash, sizeBytes: bytes.length });
  return { digest, object: `blobs/${hash}.1` };
}

async function isUnnamed(object: string): Promise<boolean> {
  const rows = await db.many(z.object({}), sql`select from bucket_object where object = ${object}`);
  return rows.length > 0;
}

test("a new blob is begun, and its object is known before it is sent", async () => {
  const blob = newBlob();

  expect(await index.begin(project, blob)).toBe("begun");

  expect(await isUnnamed(blob.object)).toBe(true);
  expect(await index.name(project, blob)).toBe("named");
  expect(await isUnnamed(blob.object)).toBe(false);
});

test("a known blob is not begun again, and counts as used", async () => {
  const blob = newBlob();
  await index.begin(project, blob);
  await index.name(project, blob);
  await db.run(
    sql`update bucket_blob set last_used_at = now() - interval '1 h' where hash = ${blob.digest.hash}`,
  );
  const again = { ...blob, object: `${blob.object}2` };

  expect(await index.begin(project, again)).toBe("known");

  expect(await isUnnamed(again.object)).toBe(false);
  const used = await index.look(project, blob.digest);
  expect(Date.now() - (used?.lastUsedAt.getTime() ?? 0)).toBeLessThan(60_000);
});

test("of blobs that arrive together, each gets its own answer", async () => {
  const known = newBlob();
  await index.begin(project, known);
  await index.name(project, known);
  const others = Array.from({ length: 5 }, newBlob);
  const all = [...others.slice(0, 2), { ...known, object: `${known.object}2` }, ...others.slice(2)];

  const answers = await Promise.all(all.map((blob) => index.begin(project, blob)));

  expect(answers).toEqual(["begun", "begun", "known", "begun", "begun", "begun"]);
  const unnamed = await Promise.all(all.map(({ object }) => isUnnamed(object)));
  expect(unnamed).toEqual([true, true, false, true, true, true]);
});

test("a blob of another project is new", async () => {
  const blob = newBlob();
  await index.begin(project, blob);
  await index.name(project, blob);

  const other = { ...blob, object: `${blob.object}2` };
  expect(await index.begin(Namespace.parse("projects/other"), other)).toBe("begun");
});
