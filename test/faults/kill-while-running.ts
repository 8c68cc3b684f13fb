import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Graph, Run } from "#api/graph.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { sampleRepository } from "../support/sample-repository.ts";

export const victims = ["worker", "server", "PostgreSQL"] as const;
type Victim = (typeof victims)[number];

interface AfterKill {
  readonly graph: Graph;
  readonly run: Run | undefined;
  readonly log: string;
  /** From the kill to the graph's end. */
  readonly ms: number;
}

/** The job prints, waits, and prints again: its log shows if a result is not from one complete execution. */
const definitions = `
version: 1
jobs:
  before:
    inputs: [round.txt]
    commands: cat round.txt
  slow:
    needs: [before]
    inputs: [round.txt]
    commands:
      - echo begin $(cat round.txt)
      - sleep 1
      - cp round.txt slow.out
      - echo end
    outputs: [slow.out]
  after:
    needs: [slow]
    inputs: [nothing-but-outputs]
    commands: cat slow.out
`;

/**
 * Kills a part of the farm with SIGKILL while a job is running, `rounds` times.
 *
 * One farm for all rounds: the effects of a kill must not harm the next round.
 */
export async function killWhileRunning(victim: Victim, rounds: number): Promise<AfterKill[]> {
  const farm = await startFarm({ workers: 1 });
  const repository = await sampleRepository({
    ".grange/farm.yml": definitions,
    "round.txt": "0\n",
    "nothing-but-outputs": "",
  });
  try {
    const rounds_: AfterKill[] = [];
    for (let round = 1; round <= rounds; round++) {
      await repository.commit({ "round.txt": `${round}\n` });
      const { id } = await farm.submit({ repository: repository.path });
      await farm.until(id, (graph) => stateOf(graph, "slow") === "running");
      const killedAt = Date.now();
      await kill(farm, victim);
      const graph = await farm.untilOver(id);
      rounds_.push({
        graph,
        run: (await farm.job(id, "slow")).runList.at(-1),
        log: await farm.log(id, "slow"),
        ms: Date.now() - killedAt,
      });
    }
    return rounds_;
  } finally {
    await farm.stop();
    await repository.remove();
  }
}

function stateOf(graph: Graph, job: string): string | undefined {
  return graph.jobList.find((each) => each.name === job)?.state;
}

async function kill(farm: Farm, victim: Victim): Promise<void> {
  switch (victim) {
    case "worker": {
      const worker = farm.workers.pop();
      worker?.signal("SIGKILL");
      await worker?.finished;
      farm.startWorker({ name: "worker-1" });
      return;
    }
    case "server":
      farm.server.signal("SIGKILL");
      await farm.restartServer();
      return;
    case "PostgreSQL": {
      const lock = await readFile(join(farm.dataDir, "pgdata", "postmaster.pid"), "utf8");
      process.kill(Number.parseInt(lock, 10), "SIGKILL");
      return;
    }
  }
}
