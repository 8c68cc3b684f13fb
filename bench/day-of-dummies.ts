import { type Catalog, catalogOf } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { beginGraph } from "#graphs/advancing/begin-graph.ts";
import type { GraphPart } from "#graphs/advancing/graph-part.ts";
import type { PlannedEdge } from "#graphs/plan.ts";
import { seededDraws } from "../test/support/seeded-draws.ts";

/** A push's graph, before it is stored. */
export interface Push {
  readonly catalog: Catalog;
  readonly begun: GraphPart;
}

const platforms = 10;
const testsPerBuild = 11;
/** 10 builds, 110 tests, a join for every two builds, one over all builds, and a report. */
export const jobsPerPush = 127;

/** One run in twenty fails; nine of ten failures succeed at the second attempt. */
const failing = 0.05;
const lasting = 0.1;

/**
 * Pushes like those of a large farm: each builds for ten platforms, tests the builds, and reports.
 *
 * All times are multiples of `gridSeconds`, so that jobs end at the same time, as on a busy farm. The same seed creates
 * the same pushes.
 */
export async function somePushes(
  count: number,
  seed: number,
  gridSeconds: number,
): Promise<Push[]> {
  const random = seededDraws(seed);
  const takes = (fromSeconds: number, toSeconds: number) => {
    const seconds = fromSeconds + random() * (toSeconds - fromSeconds);
    return `${Math.max(1, Math.round(seconds / gridSeconds)) * gridSeconds}s`;
  };
  const dummy = (after: string, needs?: JobDefinition["needs"]): JobDefinition => {
    const outcomes =
      random() >= failing
        ? []
        : random() < lasting
          ? (["failed"] as const)
          : (["failed", "succeeded"] as const);
    return {
      kind: "dummy",
      retries: 1,
      ...(needs === undefined ? {} : { needs }),
      dummy: { after, ...(outcomes.length === 0 ? {} : { outcomes: [...outcomes] }) },
    };
  };

  const pushes: Push[] = [];
  for (let n = 0; n < count; n++) {
    const jobs = new Map<string, JobDefinition>();
    const builds = Array.from({ length: platforms }, (_, p) => `build-${p}`);
    for (const [p, build] of builds.entries()) {
      jobs.set(build, dummy(takes(300, 2_400)));
      for (let t = 0; t < testsPerBuild; t++)
        jobs.set(`test-${p}-${t}`, dummy(takes(60, 1_200), { [build]: {} }));
    }
    const gathers: string[] = [];
    for (let p = 0; p < platforms; p += 2) {
      const tests = Array.from({ length: 2 * testsPerBuild }, (_, t) => [
        `test-${p + Math.floor(t / testsPerBuild)}-${t % testsPerBuild}`,
        { on: "end" as const },
      ]);
      gathers.push(`tests-${p}`);
      jobs.set(`tests-${p}`, { kind: "join", needs: Object.fromEntries(tests) });
    }
    const all = builds.map((build) => [build, { on: "end" as const }]);
    jobs.set("builds", { kind: "join", needs: Object.fromEntries(all) });
    const reported = [...gathers, "builds"].map((join) => [join, {}]);
    jobs.set("report", dummy(takes(10, 60), Object.fromEntries(reported)));
    const catalog = catalogOf(jobs);
    pushes.push({
      catalog,
      begun: await beginGraph({ catalog, edges: edgesOf(catalog), inactive: new Set() }),
    });
  }
  return pushes;
}

function edgesOf(catalog: Catalog): PlannedEdge[] {
  return catalog.entries.flatMap(({ name, definition }) =>
    Object.entries(definition.needs ?? {}).map(([on, need]) => ({
      job: name,
      on,
      condition: need.on === "end" ? ("end" as const) : ("success" as const),
    })),
  );
}
