import { wholeFarm } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import { importResults } from "#perf/imports/import-results.ts";
import { parseToolOutput } from "#perf/imports/parse-tool-output.ts";
import type { BenchmarkImportFarm } from "./http/benchmark-import-farm.ts";
import type { Services } from "./services.ts";

export function bindBenchmarkImports({
  db,
  clock,
}: Pick<Services, "db" | "clock">): BenchmarkImportFarm {
  return {
    async importBenchmarks(told, by) {
      requireGrant(by, "benchmark", wholeFarm);
      const imported = parseToolOutput(told.tool, told.output);
      return db.transaction(async (tx) => {
        const { suite, artifact, tool } = told;
        await recordAudit(tx, {
          actor: by.name,
          verb: "benchmark",
          detail: { imported: artifact, suite, tool },
        });
        return importResults(tx, told, imported, by.name, clock.now());
      });
    },
  };
}
