import { GraphId } from "#graphs/graph-id.ts";
import { jobDetail, runOutput } from "#graphs/job-detail.store.ts";
import { reportRun } from "#graphs/outside/report-run.ts";
import type { ManifestFarm } from "./http/manifest-farm.ts";
import { manifestSchema } from "./manifest-schema.ts";
import { runManifest } from "./run-manifest.ts";
import type { Services } from "./services.ts";

export function bindManifests({ db, blobs }: Pick<Services, "db" | "blobs">): ManifestFarm {
  return {
    manifestSchema,

    async manifest({ graphId, job, number }) {
      const id = GraphId.parse(graphId);
      const detail = await jobDetail(db, id, job);
      const run = detail?.runList.find((one) => one.number === number);
      const output = await runOutput(db, id, job, number);
      if (detail === undefined || run === undefined || output === undefined) return undefined;
      return runManifest(blobs, detail, run, output);
    },

    reportRun: (id, job, report, by) =>
      reportRun({ db, blobs }, GraphId.parse(id), job, report, by),
  };
}
