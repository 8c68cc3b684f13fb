import { setTimeout as sleep } from "node:timers/promises";
import { startFarm } from "../support/farm.ts";
import { otherNetwork } from "../support/network-namespace.ts";
import { sampleRepository } from "../support/sample-repository.ts";

/** The state of a job whose worker lost its network. */
export interface AfterCut {
  /** Assignments of its execution; 1 if it continued on its worker. */
  readonly attempts: number;
  readonly runs: number;
  /** Lines in its log. */
  readonly lines: number;
  /** Printed lines that the log does not have. */
  readonly missing: number;
  /** Lines that the log has more than once. */
  readonly doubled: number;
  /** Whether all lines are in the order in which they were printed. */
  readonly inOrder: boolean;
  readonly outcome: string;
}

const perSecond = 10;
/** The longer job continues to print for this time after the network is back. */
const afterwardsS = 5;

/** `through` prints beyond the end of the cut; `within` starts and ends without a network. */
function definitions(seconds: number): string {
  const talking = (lines: number) =>
    `i=1; while [ $i -le ${lines} ]; do echo "line $i"; i=$((i + 1)); sleep ${1 / perSecond}; done; echo made > out`;
  return `
version: 1
jobs:
  through: { commands: '${talking(linesOf("through", seconds))}', inputs: [], outputs: [out], timeout: 90m }
  within: { commands: '${talking(linesOf("within", seconds))}', inputs: [], outputs: [out], timeout: 90m }
`;
}

function linesOf(job: "through" | "within", seconds: number): number {
  return perSecond * (job === "through" ? seconds + afterwardsS : seconds / 2);
}

/**
 * Disconnects a worker that runs two jobs from the network, and connects it again.
 *
 * Server and worker are real processes in separate network namespaces; the worker requests leases
 * that are longer than the cut. Needs root.
 */
export async function cutNetwork(
  seconds: number,
): Promise<Readonly<Record<"through" | "within", AfterCut>>> {
  const network = await otherNetwork();
  const repository = await sampleRepository({ ".grange/farm.yml": definitions(seconds) });
  const farm = await startFarm({
    workers: 0,
    env: { GRANGE_HOST: network.address, GRANGE_ALLOW_OPEN: "1" },
  });
  try {
    farm.startWorker({
      within: network.within,
      env: {
        GRANGE_WORKER_SLOTS: "2",
        GRANGE_WORKER_LEASE_MS: String(1_000 * Math.max(120, 2 * seconds)),
      },
    });
    const { id } = await farm.submit({ repository: repository.path });
    await Promise.all(
      (["through", "within"] as const).map((job) => farm.untilLogged(id, job, "line 3")),
    );
    await network.cut();
    // The test is about this duration, so it waits for time.
    await sleep(1_000 * seconds);
    await network.mend();
    await farm.untilOver(id);
    const after = async (job: "through" | "within") => {
      const { runList } = await farm.job(id, job);
      return judge(await farm.log(id, job), linesOf(job, seconds), runList);
    };
    return { through: await after("through"), within: await after("within") };
  } finally {
    await farm.stop();
    await repository.remove();
    await network.remove();
  }
}

function judge(
  log: string,
  printed: number,
  runs: readonly { readonly attempt: number; readonly outcome: string | null }[],
): AfterCut {
  const numbers = [...log.matchAll(/^line (\d+)$/gm)].map((match) => Number(match[1]));
  const seen = new Set(numbers);
  const expected = Array.from({ length: printed }, (_, i) => i + 1);
  return {
    attempts: runs.reduce((sum, { attempt }) => sum + attempt, 0),
    runs: runs.length,
    lines: numbers.length,
    missing: expected.filter((number) => !seen.has(number)).length,
    doubled: numbers.length - seen.size,
    inOrder: numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0)),
    outcome: runs.at(-1)?.outcome ?? "none",
  };
}
