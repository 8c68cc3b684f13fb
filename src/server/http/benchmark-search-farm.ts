import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type {
  BenchmarkSearches,
  BenchmarkSearchView,
  StartBenchmarkSearch,
} from "#api/benchmark-history.ts";

/** Searches along the main line for where a figure stepped. */
export interface BenchmarkSearchFarm {
  startBenchmarkSearch(
    wanted: z.output<typeof StartBenchmarkSearch>,
    by: Principal,
  ): Promise<BenchmarkSearchView>;
  benchmarkSearches(query: {
    readonly suite: string | undefined;
    readonly limit: number;
  }): Promise<z.infer<typeof BenchmarkSearches>>;
  benchmarkSearch(id: string): Promise<BenchmarkSearchView | undefined>;
  cancelBenchmarkSearch(id: string, by: Principal): Promise<BenchmarkSearchView | undefined>;
}
