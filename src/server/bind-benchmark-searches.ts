import { wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { Fault } from "#core/fault.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { tellBenchmarkChange } from "#perf/change.store.ts";
import {
  BenchmarkSearchId,
  cancelBenchmarkSearch,
  newestBenchmarkSearches,
  readBenchmarkSearch,
} from "#perf/searches/search.store.ts";
import { viewSearch } from "#perf/searches/search-view.ts";
import { startBenchmarkSearch } from "#perf/searches/start-search.ts";
import type { BenchmarkSearchFarm } from "./http/benchmark-search-farm.ts";
import type { Services } from "./services.ts";

export function bindBenchmarkSearches({
  db,
  clock,
}: Pick<Services, "db" | "clock">): BenchmarkSearchFarm {
  const view = async (id: BenchmarkSearchId) => {
    const search = await readBenchmarkSearch(db, id);
    return search === undefined ? undefined : viewSearch(db, search);
  };

  return {
    async startBenchmarkSearch(wanted, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = await db.transaction(async (tx) => {
        const started = await startBenchmarkSearch(tx, wanted, by.name, clock.now());
        await recordAudit(tx, {
          actor: by.name,
          verb: "benchmark",
          detail: { search: started, ...wanted },
        });
        await tellBenchmarkChange(tx, wanted.suite);
        return started;
      });
      const search = await view(id);
      if (search === undefined) throw new Fault("internal", `search ${id} is not there`);
      return search;
    },

    async benchmarkSearches({ suite, limit }) {
      const rows = await newestBenchmarkSearches(db, suite, limit);
      return { searches: await Promise.all(rows.map((row) => viewSearch(db, row))) };
    },

    benchmarkSearch: (written) => view(searchIdFrom(written)),

    async cancelBenchmarkSearch(written, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const id = searchIdFrom(written);
      await db.transaction(async (tx) => {
        if (!(await cancelBenchmarkSearch(tx, id, clock.now()))) return;
        await tellBenchmarkChange(tx);
        await recordAudit(tx, {
          actor: by.name,
          verb: "benchmark",
          detail: { cancelledSearch: id },
        });
      });
      return view(id);
    },
  };
}

function searchIdFrom(text: string): BenchmarkSearchId {
  const id = BenchmarkSearchId.safeParse(text);
  if (!id.success) throw new Fault("invalid_argument", `"${text.slice(0, 60)}" is no search's id`);
  return id.data;
}
