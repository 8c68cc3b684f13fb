import type { ExecutionSizeClass } from "#api/size-class.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** The outcome of a job in one round. */
export interface Round {
  readonly state: string;
  /** The class and the outcome of each attempt, in order. */
  readonly attempts: readonly { readonly sizeClass: number; readonly outcome: string }[];
  /** The reason of its first decision. */
  readonly reason: string;
  readonly executionId: string;
}

/** Processor time of one thread; about a second on a present-day machine. */
const burn = "awk 'BEGIN { for (i = 0; i < 60000000; i++) x += i }'";

/**
 * Each reads the number of the round, so that there are no cached results; their commands stay the
 * same.
 */
const jobs = {
  single: burn,
  parallel: `${burn} & ${burn} & ${burn} & ${burn} & wait`,
  // `tail` stores a line without an end: 600 MiB of it.
  hungry: "head -c 629145600 /dev/zero | tail -c 700000000 | wc -c",
  failing: `${burn}; echo 'it is wrong'; exit 1`,
} as const;
type JobName = keyof typeof jobs;
export const jobNames = Object.keys(jobs) as JobName[];

/** One after the other, so that the queue does not affect the decision: it depends only on the action. */
const definitions = [
  "version: 1",
  "jobs:",
  ...Object.entries(jobs).flatMap(([name, command], i, all) => {
    const before = all[i - 1]?.[0];
    return [
      `  ${name}:`,
      ...(before === undefined ? [] : [`    needs: [${before}]`]),
      "    inputs: [round.txt]",
      "    retries: 0",
      `    commands: ${JSON.stringify(command)}`,
    ];
  }),
  "",
].join("\n");

/** A farm with a worker of class 1 (one CPU, 256 MiB) and one of class 2 (two CPUs, 2 GiB). */
export interface SmallAndLarge {
  readonly farm: Farm;
  /** Commits, submits and waits; returns the outcome of each job. */
  round(): Promise<Record<JobName, Round>>;
  stop(): Promise<void>;
}

export async function smallAndLarge(): Promise<SmallAndLarge> {
  const farm = await startFarm({ workers: 0 });
  const repository: SampleRepository = await sampleRepository({
    ".grange/farm.yml": definitions,
    "round.txt": "0\n",
  });
  for (const [sizeClass, memory] of [
    [1, "256M"],
    [2, "2G"],
  ] as const) {
    farm.startWorker({
      name: `class-${sizeClass}`,
      sizeClass,
      env: {
        GRANGE_WORKER_SLOTS: "1",
        GRANGE_WORKER_CPUS: String(sizeClass),
        GRANGE_WORKER_MEMORY: memory,
      },
    });
  }
  await untilRegistered(farm, 2);
  let rounds = 0;
  return {
    farm,
    async round() {
      rounds += 1;
      await repository.commit({ "round.txt": `${rounds}\n` });
      const { id } = await farm.submit({ repository: repository.path });
      await farm.untilOver(id);
      const found = await Promise.all(
        jobNames.map(async (name) => [name, await roundOf(farm, id, name)] as const),
      );
      return Object.fromEntries(found) as Record<JobName, Round>;
    },
    async stop() {
      await farm.stop();
      await repository.remove();
    },
  };
}

async function untilRegistered(farm: Farm, count: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${farm.url}/api/v1/workers`);
    const workers = (await answer.json()) as readonly unknown[];
    if (workers.length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function roundOf(farm: Farm, graph: string, name: JobName): Promise<Round> {
  const detail = await farm.job(graph, name);
  const executionId = detail.runList.at(-1)?.executionId;
  if (executionId === null || executionId === undefined)
    throw new Error(`${name} was not executed`);
  const answer = await fetch(`${farm.url}/api/v1/executions/${executionId}/size-class`);
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const { decisions } = (await answer.json()) as ExecutionSizeClass;
  const runs = decisions.flatMap((decision) => decision.runs);
  const attempts = [
    ...new Map(runs.map((run) => [`${run.executionId} ${run.attempt}`, run])).values(),
  ];
  return {
    state: detail.job.state,
    executionId,
    attempts: attempts.map(({ sizeClass, outcome }) => ({
      sizeClass,
      outcome: outcome ?? "under way",
    })),
    reason: decisions[0]?.reason.text ?? "",
  };
}
