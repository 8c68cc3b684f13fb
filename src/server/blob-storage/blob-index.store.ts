import { z } from "zod";
import type { BlobIndex, IndexedBlob, KeptPart } from "#cas/bucket/blob-index.ts";
import type { NamespacedBlob } from "#cas/evictable.ts";
import { Namespace, ownNamespace } from "#cas/namespaces/namespace.ts";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import { Digest, digestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** Bazel checks up to 100,000 digests in one call. */
const digestsAtOnce = 10_000;
const listedAtOnce = 5_000;
/** A repeated use within this time writes nothing. Eviction keeps blobs for longer after a use. In ms. */
const usedForMs = 60_000;
/** No blob takes as long to be sent. In ms. */
const unnamedForMs = 6 * 60 * 60_000;
/** Interrupted uploads are kept for as long as on a disk. In ms. */
const keptForMs = 60 * 60_000;
/** The server that removes a blob also removes its object, unless it stops before. In ms. */
const leavingForMs = 5 * 60_000;
const removedAtOnce = 1_000;

interface Located {
  readonly namespace: Namespace;
  readonly digest: Digest;
}

/** The index of a bucket in the database. Statements of calls that arrive together travel together. */
export function blobIndex(db: Db, clock: Clock): BlobIndex {
  const uses = coalescer((all: readonly Located[]) => useAll(db, all, clock.now()), digestsAtOnce);
  const finds = coalescer((all: readonly Located[]) => findAll(db, all));
  const begins = coalescer(
    (all: readonly (Located & IndexedBlob)[]) => beginAll(db, all, clock.now()),
    digestsAtOnce,
  );
  const unnamed = coalescer((all: readonly string[]) => addUnnamed(db, all, clock.now()));
  const names = coalescer((all: readonly (Located & IndexedBlob)[]) =>
    nameAll(db, all, clock.now()),
  );
  return {
    async use(namespace, digests) {
      const used = await Promise.all(digests.map((digest) => uses.add({ namespace, digest })));
      return new Set(digests.filter((_, i) => used[i]).map(digestKey));
    },
    find: (namespace, digest) => finds.add({ namespace, digest }),
    findHash: (namespace, hash) => findHash(db, namespace, hash),
    begin: (namespace, blob) => begins.add({ namespace, ...blob }),
    addUnnamed: (object) => unnamed.add(object),
    noteParts: (object, upload) => noteParts(db, object, upload),
    name: (namespace, blob) => names.add({ namespace, ...blob }),
    remove: (namespace, digest, condition) =>
      removeBlob(db, { namespace, digest }, condition, clock.now()),
    abandoned: () => abandonedObjects(db, clock.now()),
    async forgetUnnamed(objects) {
      await db.run(sql`delete from bucket_object where object = any(${objects}::text[])`);
    },
    keepUpload: (name, kept) => keepUpload(db, name, kept, clock.now()),
    keptUpload: (name) => keptUpload(db, name),
    dropUpload: (name) => dropUpload(db, name, clock.now()),
    list: (namespace) => listBlobs(db, namespace),
    async look(namespace, digest) {
      const [found] = await db.many(
        z.object({ lastUsedAt: z.date() }),
        sql`select last_used_at as "lastUsedAt" from bucket_blob
          where namespace = ${namespace} and hash = ${digest.hash} and size_bytes = ${digest.sizeBytes}`,
      );
      return found;
    },
    async hasNamespace(namespace) {
      const found = await db.many(
        z.object({}),
        sql`select from bucket_namespace where namespace = ${namespace}`,
      );
      return found.length > 0;
    },
    async addNamespace(namespace) {
      await db.run(
        sql`insert into bucket_namespace (namespace) values (${namespace}) on conflict do nothing`,
      );
    },
    async removeNamespace(namespace) {
      const removed = await db.run(sql`
        delete from bucket_namespace where namespace = ${namespace}
          and not exists (select from bucket_blob where namespace = ${namespace})`);
      return removed > 0;
    },
    async namespaces() {
      const rows = await db.many(
        z.object({ namespace: Namespace }),
        sql`select namespace from bucket_namespace where namespace <> ${ownNamespace} order by namespace`,
      );
      return rows.map(({ namespace }) => namespace);
    },
    async usage(namespace) {
      const [counted] = await db.many(
        z.object({ blobs: z.number(), bytes: z.number() }),
        sql`select count(*)::float8 as blobs, coalesce(sum(size_bytes), 0)::float8 as bytes
          from bucket_blob where namespace = ${namespace}`,
      );
      return counted ?? { blobs: 0, bytes: 0 };
    },
  };
}

/** The columns of blobs for `unnest`. */
function columnsOf(all: readonly Located[]) {
  return {
    namespaces: all.map(({ namespace }) => namespace),
    hashes: all.map(({ digest }) => digest.hash),
    sizes: all.map(({ digest }) => digest.sizeBytes),
  };
}

const Place = z.object({ place: z.number() });

/**
 * Returns which of the blobs exist, and records that they were used.
 *
 * A blob that was not used lately is reported only if its row could be changed. So eviction, which removes a row by the
 * time of its last use, either sees the new time or was first, and the blob is reported as missing.
 */
async function useAll(db: Db, all: readonly Located[], now: Date): Promise<boolean[]> {
  const found = await db.many(Place, sql`with ${usedOf(all, now)} select place::float8 from known`);
  const places = new Set(found.map(({ place }) => place));
  return all.map((_, i) => places.has(i + 1));
}

/** Like `useAll`, and records the objects of the blobs that are absent as unnamed, in the same statement. */
async function beginAll(
  db: Db,
  all: readonly (Located & IndexedBlob)[],
  now: Date,
): Promise<("known" | "begun")[]> {
  const objects = all.map(({ object }) => object);
  const found = await db.many(
    Place,
    sql`
    with ${usedOf(all, now)}, begun as (
      insert into bucket_object (object, since)
        select object, ${now}::timestamptz
          from unnest(${objects}::text[]) with ordinality as sent (object, place)
          where place not in (select place from known)
        on conflict do nothing
    )
    select place::float8 from known`,
  );
  const places = new Set(found.map(({ place }) => place));
  return all.map((_, i) => (places.has(i + 1) ? "known" : "begun"));
}

/** Returns the common table expressions up to `known`: the places of the blobs that exist, which count as used. */
function usedOf(all: readonly Located[], now: Date): Sql {
  const { namespaces, hashes, sizes } = columnsOf(all);
  const stale = new Date(now.getTime() - usedForMs);
  return sql`
    given as (
      select * from unnest(${namespaces}::text[], ${hashes}::text[], ${sizes}::bigint[])
        with ordinality as given (namespace, hash, size_bytes, place)
    ), due as materialized (
      select namespace, hash from bucket_blob join given using (namespace, hash, size_bytes)
        where last_used_at < ${stale}
    ), held as (
      -- In one order, so that two servers do not wait for each other. A row that another server has just used is held
      -- as well: its old time must not make it a missing blob.
      select b.namespace, b.hash from bucket_blob b join due using (namespace, hash)
        order by b.namespace, b.hash for no key update of b
    ), used as (
      update bucket_blob b set last_used_at = ${now} from held
        where b.namespace = held.namespace and b.hash = held.hash
        returning b.namespace, b.hash, b.size_bytes
    ), known as (
      select place from given join bucket_blob b using (namespace, hash, size_bytes)
        where b.last_used_at >= ${stale}
      union
      select place from given join used using (namespace, hash, size_bytes)
    )`;
}

async function findAll(db: Db, all: readonly Located[]): Promise<(IndexedBlob | undefined)[]> {
  const { namespaces, hashes, sizes } = columnsOf(all);
  const rows = await db.many(
    Place.extend({ object: z.string() }),
    sql`
    select place::float8, b.object
      from unnest(${namespaces}::text[], ${hashes}::text[], ${sizes}::bigint[])
        with ordinality as given (namespace, hash, size_bytes, place)
      join bucket_blob b using (namespace, hash, size_bytes)`,
  );
  const objects = new Map(rows.map(({ place, object }) => [place, object]));
  return all.map(({ digest }, i) => {
    const object = objects.get(i + 1);
    return object === undefined ? undefined : { digest, object };
  });
}

async function findHash(db: Db, namespace: Namespace, hash: string): Promise<Digest | undefined> {
  const [found] = await db.many(
    z.object({ sizeBytes: z.number() }),
    sql`select size_bytes::float8 as "sizeBytes" from bucket_blob
      where namespace = ${namespace} and hash = ${hash}`,
  );
  return found && Digest.parse({ hash, sizeBytes: found.sizeBytes });
}

async function addUnnamed(db: Db, objects: readonly string[], now: Date): Promise<void[]> {
  await db.run(sql`
    insert into bucket_object (object, since) select object, ${now}::timestamptz from unnest(${objects}::text[]) as object
      on conflict do nothing`);
  return objects.map(() => {});
}

async function noteParts(db: Db, object: string, upload: string): Promise<void> {
  await db.run(sql`update bucket_object set upload = ${upload} where object = ${object}`);
}

async function nameAll(
  db: Db,
  all: readonly (Located & IndexedBlob)[],
  now: Date,
): Promise<("named" | "known" | "expired")[]> {
  const { namespaces, hashes, sizes } = columnsOf(all);
  const objects = all.map(({ object }) => object);
  const rows = await db.many(
    z.object({ object: z.string(), isNamed: z.boolean() }),
    sql`
    with given as (
      select * from unnest(${namespaces}::text[], ${hashes}::text[], ${sizes}::bigint[], ${objects}::text[])
        as given (namespace, hash, size_bytes, object)
    ), here as (
      select object from bucket_object where object = any(${objects}::text[]) and not is_leaving
        order by object for update
    ), begun as (
      -- A project may have been removed since this server opened it: its next blob begins it again.
      insert into bucket_namespace (namespace) select distinct namespace from given on conflict do nothing
    ), named as (
      insert into bucket_blob (namespace, hash, size_bytes, object, last_used_at)
        select namespace, hash, size_bytes, object, ${now}::timestamptz from given join here using (object)
        order by namespace, hash
        on conflict do nothing
        returning object
    ), settled as (
      delete from bucket_object o using named where o.object = named.object
    )
    select here.object, named.object is not null as "isNamed" from here left join named using (object)`,
  );
  const isNamed = new Map(rows.map((row) => [row.object, row.isNamed]));
  return objects.map((object) => {
    const result = isNamed.get(object);
    if (result === undefined) return "expired";
    return result ? "named" : "known";
  });
}

async function removeBlob(
  db: Db,
  { namespace, digest }: Located,
  { before, object }: { readonly before?: Date; readonly object?: string },
  now: Date,
): Promise<string | undefined> {
  const [removed] = await db.many(
    z.object({ object: z.string() }),
    sql`
    with gone as (
      delete from bucket_blob
        where namespace = ${namespace} and hash = ${digest.hash} and size_bytes = ${digest.sizeBytes}
          and (${before ?? null}::timestamptz is null or last_used_at < ${before ?? null})
          and (${object ?? null}::text is null or object = ${object ?? null})
        returning object
    )
    insert into bucket_object (object, since, is_leaving) select object, ${now}::timestamptz, true from gone
      returning object`,
  );
  return removed?.object;
}

async function abandonedObjects(db: Db, now: Date) {
  const ago = (ms: number) => new Date(now.getTime() - ms);
  await db.run(sql`
    with old as (
      delete from bucket_upload where name in (
        select name from bucket_upload where kept_at < ${ago(keptForMs)}
          order by kept_at limit ${removedAtOnce} for update skip locked
      ) returning object
    )
    insert into bucket_object (object, since, is_leaving)
      select object, ${ago(leavingForMs)}::timestamptz, true from old on conflict do nothing`);
  return db.many(
    z.object({
      object: z.string(),
      upload: z
        .string()
        .nullish()
        .transform((id) => id ?? undefined),
    }),
    sql`
    update bucket_object set is_leaving = true where object in (
      select object from bucket_object
        where (is_leaving and since <= ${ago(leavingForMs)}) or since < ${ago(unnamedForMs)}
        order by since limit ${removedAtOnce} for update skip locked
    ) returning object, upload`,
  );
}

/** The object of an earlier part, if any, becomes unnamed. */
async function keepUpload(db: Db, name: string, kept: KeptPart, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`
      with old as (delete from bucket_upload where name = ${name} returning object)
      insert into bucket_object (object, since, is_leaving) select object, ${now}::timestamptz, true from old`);
    await tx.run(sql`
      with mine as (delete from bucket_object where object = ${kept.object} and not is_leaving returning object)
      insert into bucket_upload (name, object, size_bytes, kept_at)
        select ${name}::text, object, ${kept.sizeBytes}::bigint, ${now}::timestamptz from mine
        on conflict do nothing`);
  });
}

async function keptUpload(db: Db, name: string): Promise<KeptPart | undefined> {
  const [kept] = await db.many(
    z.object({ object: z.string(), sizeBytes: z.number() }),
    sql`select object, size_bytes::float8 as "sizeBytes" from bucket_upload where name = ${name}`,
  );
  return kept;
}

async function dropUpload(db: Db, name: string, now: Date): Promise<void> {
  await db.run(sql`
    with old as (delete from bucket_upload where name = ${name} returning object)
    insert into bucket_object (object, since, is_leaving)
      select object, ${now}::timestamptz, true from old on conflict do nothing`);
}

const Listed = z.object({
  namespace: Namespace,
  hash: z.string(),
  sizeBytes: z.number(),
  lastUsedAt: z.date(),
});

/** Yields blobs in the order of their keys: blobs that are added meanwhile may be left out. */
async function* listBlobs(
  db: Db,
  only: Namespace | undefined,
): AsyncGenerator<NamespacedBlob, void, undefined> {
  let [namespace, hash] = [only ?? "", ""];
  for (;;) {
    const rows = await db.many(
      Listed,
      sql`select namespace, hash, size_bytes::float8 as "sizeBytes", last_used_at as "lastUsedAt"
        from bucket_blob
        where (namespace, hash) > (${namespace}, ${hash})
          and (${only ?? null}::text is null or namespace = ${only ?? null})
        order by namespace, hash limit ${listedAtOnce}`,
    );
    for (const row of rows)
      yield {
        namespace: row.namespace,
        digest: Digest.parse({ hash: row.hash, sizeBytes: row.sizeBytes }),
        lastUsedAt: row.lastUsedAt,
      };
    const last = rows.at(-1);
    if (rows.length < listedAtOnce || last === undefined) return;
    ({ namespace, hash } = last);
  }
}
