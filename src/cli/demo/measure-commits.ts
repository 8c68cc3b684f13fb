import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { RequestSummary } from "#api/benchmark-request.ts";
import { benchmarkCollectorEndpoints } from "#api/endpoints/benchmark-collector-endpoints.ts";
import { benchmarkHistoryEndpoints } from "#api/endpoints/benchmark-history-endpoints.ts";
import { benchmarkRequestEndpoints } from "#api/endpoints/benchmark-request-endpoints.ts";
import { benchmarkSuiteEndpoints } from "#api/endpoints/benchmark-suite-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { readSuiteFile } from "#suites/read-suite.ts";
import { pageAddress } from "../bench/page-address.ts";
import { demoMilestones } from "../example/demo-commits.ts";
import type { DemoFarm } from "./demo-farm.ts";

export const demoCollector = "demo";
const thisTarget = `${process.platform}-${process.arch}`;

/** The collector's folder for measuring. */
export function collectorFolder(demoFolder: string): string {
  return join(demoFolder, "collector");
}

/** The pause between two checks of unfinished requests. */
const lookMs = 500;

export interface MeasuredSummary {
  readonly commits: number;
  /** How many test cases are worse in the commit that made the program slower, and the total number. */
  readonly worse: number;
  readonly cases: number;
  /** The page that compares that commit with its parent. */
  readonly url: string;
}

/** Makes the benchmark lab measure each commit of the demo, and compares the slower one with its parent. */
export async function measureCommits(farm: DemoFarm): Promise<MeasuredSummary> {
  const { api, repository, stopping, folder } = farm;
  const written = await readSuiteFile(join(repository.path, ".grange/bench/concordance.yml"));
  // Only this machine: jobs for other platforms would wait forever.
  const suite = {
    ...written,
    targets: { [thisTarget]: written.targets[thisTarget] ?? { optional: false } },
  };
  await api.call(benchmarkSuiteEndpoints.pushBenchmarkSuite, {
    params: { suite: suite.suite },
    body: { definition: suite },
  });
  await registerCollector(farm);
  farm.startCollector(demoCollector, collectorFolder(folder));

  const tags = repository.commits.map(artifactTag);
  // Unmeasured parents are measured, too.
  await api.call(benchmarkRequestEndpoints.submitBenchmarkRequest, {
    body: { suite: suite.suite, artifact: tags.at(-1) ?? "" },
  });
  const ended = await untilAllEnd(farm, suite.suite, stopping);
  const failed = ended.find(({ state }) => state !== "completed");
  if (failed !== undefined) {
    const page = pageAddress(farm.url, ["requests", failed.id]);
    throw new Fault(
      "failed_precondition",
      `the request for ${failed.artifact} ended as ${failed.state}: ${page}`,
    );
  }
  const before = tags[demoMilestones.slower - 1] ?? "";
  const after = tags[demoMilestones.slower] ?? "";
  const query = { suite: suite.suite, before, after };
  const { cases } = await api.call(benchmarkHistoryEndpoints.compareBenchmarks, {
    query: { ...query, metric: "probes" },
  });
  return {
    commits: ended.length,
    worse: cases.filter(({ verdict }) => verdict === "regressed").length,
    cases: cases.length,
    url: pageAddress(farm.url, ["compare"], query),
  };
}

/** Returns the tag that the lab uses for a commit: the first twelve digits. */
function artifactTag(commit: string): string {
  return commit.slice(0, 12);
}

/** Registers this machine, unless an earlier start of the demo has done so. */
async function registerCollector({ api }: Pick<DemoFarm, "api">): Promise<void> {
  const { collectors } = await api.call(benchmarkCollectorEndpoints.benchmarkCollectors, {});
  if (collectors.some(({ name }) => name === demoCollector)) return;
  await api.call(benchmarkCollectorEndpoints.addBenchmarkCollector, {
    body: { name: demoCollector, target: thisTarget, set: null },
  });
}

async function untilAllEnd(
  { api }: DemoFarm,
  suite: string,
  stopping: AbortSignal,
): Promise<readonly RequestSummary[]> {
  for (;;) {
    const { requests } = await api.call(benchmarkRequestEndpoints.benchmarkRequests, {
      query: { suite, limit: 50 },
    });
    if (requests.every(({ endedAt }) => endedAt !== null)) return requests;
    await delay(lookMs, undefined, { signal: stopping });
  }
}
