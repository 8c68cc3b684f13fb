import { z } from "zod";
import { RunManifest } from "#api/manifest.ts";

/** The JSON Schema of manifests of runs, for programs that read them. */
export function manifestSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(RunManifest, { io: "output", metadata: z.registry() }),
    $id: "https://grange.invalid/schema/run-manifest-1.json",
    title: "A run of a job, and what it made",
  };
}
