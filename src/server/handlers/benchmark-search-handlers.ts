import { recordAudit } from "#access/audit.store.ts";
import type { benchmarkSearchEndpoints } from "#api/endpoints/benchmark-search-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { notifyBenchmarkChange } from "#perf/change.store.ts";
import {
  BenchmarkSearchId,
  cancelBenchmarkSearch,
  newestBenchmarkSearches,
  readBenchmarkSearch,
} from "#perf/searches/search.store.ts";
import { viewSearch } from "#perf/searches/search-view.ts";
import { startBenchmarkSearch } from "#perf/searches/start-search.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

export function benchmarkSearchHandlers({
  db,
  clock,
}: Pick<HandlerServices, "db" | "clock">): HandlersFor<typeof benchmarkSearchEndpoints> {
  const view = async (id: BenchmarkSearchId) => {
    const search = found(await readBenchmarkSearch(db, id), `benchmark search ${id}`);
    return viewSearch(db, search);
  };

  return {
    async startBenchmarkSearch({ body, caller }) {
      const id = await db.transaction(async (tx) => {
        const started = await startBenchmarkSearch(tx, body, caller.name, clock.now());
        await recordAudit(tx, {
          actor: caller.name,
          verb: "benchmark",
          detail: { search: started, ...body },
        });
        await notifyBenchmarkChange(tx, body.suite);
        return started;
      });
      return view(id);
    },

    async benchmarkSearches({ query: { suite, limit } }) {
      const rows = await newestBenchmarkSearches(db, suite, limit);
      return { searches: await Promise.all(rows.map((row) => viewSearch(db, row))) };
    },

    benchmarkSearch: ({ params }) => view(searchIdFrom(params.search)),

    async cancelBenchmarkSearch({ params, caller }) {
      const id = searchIdFrom(params.search);
      await db.transaction(async (tx) => {
        if (!(await cancelBenchmarkSearch(tx, id, clock.now()))) return;
        await notifyBenchmarkChange(tx);
        await recordAudit(tx, {
          actor: caller.name,
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
  if (!id.success)
    throw new Fault("invalid_argument", `"${text.slice(0, 60)}" is not the id of a search`);
  return id.data;
}
