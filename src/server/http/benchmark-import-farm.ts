import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { ImportedResults, ImportResults } from "#api/benchmark-history.ts";

/** Figures that other tools took. */
export interface BenchmarkImportFarm {
  importBenchmarks(told: z.output<typeof ImportResults>, by: Principal): Promise<ImportedResults>;
}
