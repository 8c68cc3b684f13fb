import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { RunManifest } from "#api/manifest.ts";
import type { ReportedRun, ReportRun } from "#api/report.ts";
import type { RunName } from "./farm.ts";

/** What runs made, as one text; and what other machines tell of theirs. */
export interface ManifestFarm {
  manifest(run: RunName): Promise<RunManifest | undefined>;
  manifestSchema(): object;
  reportRun(
    graphId: string,
    job: string,
    report: z.output<typeof ReportRun>,
    by: Principal,
  ): Promise<ReportedRun | undefined>;
}
