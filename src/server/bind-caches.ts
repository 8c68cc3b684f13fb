import { cacheTotals } from "#caches/cache-entry.store.ts";
import { listCaches } from "#caches/list-caches.ts";
import { forAWhile } from "./for-a-while.ts";
import type { CacheFarm } from "./http/cache-farm.ts";
import type { Services } from "./services.ts";

/** All entries are counted for it, which pages that ask every second need not cause. */
const countedForMs = 5_000;

export function bindCaches({
  db,
  caches,
  clock,
}: Pick<Services, "db" | "caches" | "clock">): CacheFarm {
  const totals = forAWhile(
    countedForMs,
    () => clock.now().getTime(),
    () => cacheTotals(db),
  );
  return {
    toolCaches: async () => ({ caches: listCaches(await totals(), caches.counter.all()) }),
  };
}
