import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ForgePlace } from "./forge.ts";
import { notifyForge } from "./repository.store.ts";
import { Hint } from "./webhooks/hint.ts";

interface NewDelivery {
  /** The kind of the forge that sent it. */
  readonly kind: string;
  readonly id: string;
  readonly event: string;
  readonly slug: string;
  readonly hint: Hint;
  readonly receivedAt: Date;
  /** SHA-256 of the body, in hex, for deliveries by webhook. */
  readonly bodyHash?: string;
}

/**
 * For this long the same body counts as the same delivery, under any id. The signature does not cover the id, so anyone
 * who has seen a webhook could replay it. Forges rarely send equal bodies, and the farm finds the missed changes when
 * it reads the repository.
 */
const sameBodyMs = 60 * 60_000;

/** Stores a delivery; returns false when it arrived before. A failed one is retried. */
export async function insertDelivery(
  tx: Tx,
  { kind, id, event, slug, hint, receivedAt, bodyHash }: NewDelivery,
): Promise<boolean> {
  if (bodyHash !== undefined && (await cameAs(tx, { kind, id }, bodyHash, receivedAt)))
    return false;
  const stored = await tx.run(sql`
    insert into forge_delivery (kind, id, event, slug, content, received_at, next_at, body_hash)
    values (${kind}, ${id}, ${event}, ${slug}, ${JSON.stringify(hint)}::jsonb, ${receivedAt}, ${receivedAt},
            ${bodyHash ?? null})
    on conflict (kind, id) do update
    set state = 'waiting', done_at = null, error = null, attempts = 0, next_at = excluded.next_at
    where forge_delivery.state = 'failed'
  `);
  if (stored > 0) await notifyForge(tx);
  return stored > 0;
}

/**
 * Returns whether the same body arrived under another id within the last hour. Two simultaneous deliveries wait for
 * each other.
 */
async function cameAs(
  tx: Tx,
  { kind, id }: Pick<NewDelivery, "kind" | "id">,
  bodyHash: string,
  now: Date,
): Promise<boolean> {
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtext('forge_delivery body'), hashtext(${bodyHash}))
  `);
  const same = await tx.many(
    z.object({ id: z.string() }),
    sql`
      select id from forge_delivery
      where kind = ${kind} and body_hash = ${bodyHash} and id <> ${id} and state <> 'failed'
        and received_at > ${new Date(now.getTime() - sameBodyMs)}
      limit 1
    `,
  );
  return same.length > 0;
}

const Waiting = z.object({ id: z.string(), content: Hint, attempts: z.number() });
type WaitingDelivery = z.infer<typeof Waiting>;

/** The waiting deliveries of a repository; only its holder reads them. */
export function waitingDeliveries(
  tx: Tx,
  { kind, slug }: ForgePlace,
  now: Date,
  most: number,
): Promise<WaitingDelivery[]> {
  return tx.many(
    Waiting,
    sql`
      select id, content, attempts from forge_delivery
      where kind = ${kind} and slug = ${slug} and state = 'waiting' and next_at <= ${now}
      order by next_at, id limit ${most}
    `,
  );
}

export async function endDeliveries(
  tx: Tx,
  kind: string,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    update forge_delivery set state = 'done', done_at = ${now}, error = null
    where kind = ${kind} and id = any(${ids}::text[]) and state = 'waiting'
  `);
}

/** Postpones deliveries; after too many attempts they fail permanently. */
export async function postponeDeliveries(
  tx: Tx,
  kind: string,
  ids: readonly string[],
  said: {
    readonly error: string;
    readonly now: Date;
    readonly nextAt: Date;
    readonly mostAttempts: number;
  },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    update forge_delivery
    set attempts = attempts + 1, next_at = ${said.nextAt}, error = ${said.error},
        state = case when attempts + 1 >= ${said.mostAttempts} then 'failed' else 'waiting' end,
        done_at = case when attempts + 1 >= ${said.mostAttempts} then ${said.now}::timestamptz end
    where kind = ${kind} and id = any(${ids}::text[]) and state = 'waiting'
  `);
}

/** Ends deliveries for repositories that are not watched. */
export function endUnwatchedDeliveries(tx: Tx, now: Date): Promise<number> {
  return tx.run(sql`
    update forge_delivery as d set state = 'done', done_at = ${now}, error = 'nobody watches that repository'
    where state = 'waiting' and not exists (
      select from forge_repository as r where r.slug = d.slug and r.kind = d.kind)
  `);
}

export function forgetDeliveries(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from forge_delivery where (kind, id) in (
      select kind, id from forge_delivery where state <> 'waiting' and received_at < ${before} limit 1000)
  `);
}

const ListedDelivery = z.object({
  id: z.string(),
  event: z.string(),
  slug: z.string(),
  receivedAt: z.date(),
  state: z.enum(["waiting", "done", "failed"]),
  attempts: z.number(),
  error: z.string().nullable(),
});
export type ListedDelivery = z.infer<typeof ListedDelivery>;

/** Returns the latest deliveries of a repository, or of all. */
export function latestDeliveries(
  tx: Tx,
  to: ForgePlace | undefined,
  most: number,
): Promise<ListedDelivery[]> {
  return tx.many(
    ListedDelivery,
    sql`
      select id, event, slug, received_at as "receivedAt", state, attempts, error from forge_delivery
      where ${to?.slug ?? null}::text is null
        or (kind = ${to?.kind ?? null} and slug = ${to?.slug ?? null})
      order by received_at desc, id desc limit ${most}
    `,
  );
}

/** Returns those ids whose deliveries arrived. */
export async function deliveriesThatCame(
  tx: Tx,
  kind: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const came = await tx.many(
    z.object({ id: z.string() }),
    sql`select id from forge_delivery where kind = ${kind} and id = any(${ids}::text[])`,
  );
  return new Set(came.map(({ id }) => id));
}

const Mark = z.object({ until: z.date() });

/** Returns the time up to which the forge's list of deliveries was checked; undefined before the first check. */
export async function deliveryMark(tx: Tx, kind: string): Promise<Date | undefined> {
  const [mark] = await tx.many(
    Mark,
    sql`select until from forge_delivery_mark where kind = ${kind}`,
  );
  return mark?.until;
}

/** Stores the mark; between two servers the later one counts. */
export async function moveDeliveryMark(tx: Tx, kind: string, until: Date): Promise<void> {
  await tx.run(sql`
    insert into forge_delivery_mark as mark (kind, until) values (${kind}, ${until})
    on conflict (kind) do update set until = greatest(mark.until, excluded.until)
  `);
}

/** False when a redelivery was requested before. */
export async function noteRedelivery(
  tx: Tx,
  { kind, id }: Pick<NewDelivery, "kind" | "id">,
  now: Date,
): Promise<boolean> {
  const noted = await tx.run(
    sql`
      insert into forge_redelivery (kind, id, asked_at) values (${kind}, ${id}, ${now})
      on conflict do nothing
    `,
  );
  return noted > 0;
}

export function forgetRedeliveries(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from forge_redelivery where asked_at < ${before}`);
}
