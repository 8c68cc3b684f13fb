import { afterAll, beforeAll } from "vitest";
import type { Run } from "#api/graph.ts";
import { type FarmHere, startFarmHere, type ToldHere } from "../support/farm-here.ts";
import { sandboxNeed } from "../support/needs/machine-needs.ts";
import type { Need } from "../support/needs/needs.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** Builds on a separate farm, and their results. */
interface Builds {
  readonly farm: FarmHere;
  readonly repository: SampleRepository;
  readonly sandboxNeed: Need;
  /** Runs jobs, given as definitions, as one graph to its end. */
  readonly build: (
    jobs: object,
    options?: { readonly branch?: string; readonly skipCache?: boolean },
  ) => Promise<Built>;
  /** Starts the same, and returns its graph. */
  readonly begin: (jobs: object) => Promise<string>;
  readonly ended: (graph: string) => Promise<Built>;
}

interface Built {
  readonly graph: string;
  run(job: string): Promise<Run>;
  /** Returns the printed text, without the lines that show its commands. */
  printed(job: string): Promise<string>;
  /** Returns the digest of an output, by its path. */
  output(job: string, path: string): Promise<string>;
}

/** Returns commands that all run: a failed one does not stop the others. */
export function trying(commands: readonly string[]): readonly string[] {
  return ["set +eu", ...commands];
}

/** Starts a farm for all tests of a file. */
export function hostileBuilds(told: ToldHere = {}): {
  current: Builds;
} {
  const held = { current: undefined as unknown as Builds };
  beforeAll(async () => {
    held.current = await openBuilds(told);
  });
  afterAll(async () => {
    await held.current?.farm.stop();
    await held.current?.repository.remove();
  });
  return held;
}

async function openBuilds(told: ToldHere): Promise<Builds> {
  const farm = await startFarmHere({ ...told, keepsCluster: true });
  const repository = await sampleRepository({ "source.txt": "as it was committed\n" });
  const ended = async (graph: string): Promise<Built> => {
    await farm.over(graph);
    const run = async (job: string) => {
      const found = (await farm.job(graph, job)).runList.at(-1);
      if (found === undefined) throw new Error(`${job} has no run`);
      return found;
    };
    return {
      graph,
      run,
      async printed(job) {
        const log = await farm.log(graph, job);
        return log
          .split("\n")
          .filter((line) => !/^(\$| {2})/.test(line))
          .join("\n");
      },
      async output(job, path) {
        const { outputs, message } = await run(job);
        const found = outputs.find((each) => each.path === path);
        if (found === undefined) throw new Error(`${job} made no ${path}: ${message}`);
        return String(found.digest);
      },
    };
  };
  const begin = (jobs: object, more: { branch?: string; skipCache?: boolean } = {}) =>
    farm.submit({
      repository: repository.path,
      definitions: {
        "farm.yml": JSON.stringify({ version: 1, jobs }).replaceAll("${", () => "$${"),
      },
      ...more,
    });
  // The worker has registered its capabilities before the end of this job.
  await ended(await begin({ first: { commands: "true", inputs: [] } }));
  const [worker] = (await (await farm.ask("/workers")).json()) as {
    facilities: Record<string, string>;
  }[];
  const sandbox = worker?.facilities["sandbox"] ?? "none";
  return {
    farm,
    repository,
    sandboxNeed: sandboxNeed(sandbox),
    begin,
    ended,
    build: async (jobs, more) => ended(await begin(jobs, more)),
  };
}
