import { z } from "zod";
import { Platform, spelledAlike } from "#core/platform.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const DeclaredClass = z.object({
  /** The platform that its workers offer; they may offer additional properties. */
  platform: z.string().transform((text) => Platform.parse(JSON.parse(text))),
  sizeClass: z.number(),
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  price: z.number().nullable(),
  leastWorkers: z.number(),
  /** Null: no limit. */
  mostWorkers: z.number().nullable(),
  slotsPerWorker: z.number(),
  declaredBy: z.string(),
  declaredAt: z.date(),
});
/** A declared size class, with workers or without. */
export type DeclaredClass = z.infer<typeof DeclaredClass>;

/** Ordered by platform, the smallest class first. */
export function declaredClasses(tx: Tx): Promise<DeclaredClass[]> {
  return tx.many(
    DeclaredClass,
    sql`
      select platform, size_class as "sizeClass", cpus, memory_bytes as "memoryBytes", price,
        least_workers as "leastWorkers", most_workers as "mostWorkers",
        slots_per_worker as "slotsPerWorker", declared_by as "declaredBy", declared_at as "declaredAt"
      from size_class order by platform, size_class
    `,
  );
}

/** Declares a class; replaces an earlier declaration. */
export async function declareClass(tx: Tx, declared: DeclaredClass): Promise<void> {
  await tx.run(sql`
    insert into size_class (
      platform, size_class, cpus, memory_bytes, price, least_workers, most_workers, slots_per_worker,
      declared_by, declared_at)
    values (
      ${canonical(declared.platform)}, ${declared.sizeClass}, ${declared.cpus},
      ${declared.memoryBytes}, ${declared.price}, ${declared.leastWorkers}, ${declared.mostWorkers},
      ${declared.slotsPerWorker}, ${declared.declaredBy}, ${declared.declaredAt})
    on conflict (platform, size_class) do update
    set cpus = excluded.cpus, memory_bytes = excluded.memory_bytes, price = excluded.price,
        least_workers = excluded.least_workers, most_workers = excluded.most_workers,
        slots_per_worker = excluded.slots_per_worker, declared_by = excluded.declared_by,
        declared_at = excluded.declared_at
  `);
}

/** Returns whether it was declared. */
export async function undeclareClass(
  tx: Tx,
  platform: Platform,
  sizeClass: number,
): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from size_class where platform = ${canonical(platform)} and size_class = ${sizeClass}
  `);
  return removed > 0;
}

/** Returns the same text for equal platforms. */
function canonical(platform: Platform): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(spelledAlike(platform)).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
  );
}
