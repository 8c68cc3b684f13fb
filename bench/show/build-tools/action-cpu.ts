import { startFarm } from "../../../test/support/farm.ts";
import { cpuOfProcessMs, openCpuGroup, whyNoCpuGroups } from "../../cpu-of-group.ts";
import { executionClient } from "../farm/execution-client.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";

const actions = 600;
const warmUps = 60;
/** As many as the workers' slots. */
const inFlight = 2;

/** CPU time of each part of a farm for an action that does nothing. */
export const actionCpu: Measurement = {
  title: `CPU of ${actions} no-op actions, two workers with one slot each`,
  long: false,
  async measure() {
    const why = whyNoCpuGroups();
    if (why === undefined) return measureInGroups();
    const name = "CPU for each no-op action";
    return [
      {
        name,
        figure: null,
        unit: "ms",
        goal: "for information",
        holds: true,
        how: `not measured: ${why}`,
      },
    ];
  },
};

async function measureInGroups(): Promise<Row[]> {
  const servers = openCpuGroup("server");
  const workers = openCpuGroup("workers");
  const farm = await startFarm({ workers: 0, serverWithin: servers.within });
  const client = executionClient(farm.url);
  try {
    for (const name of ["one", "two"])
      farm.startWorker({ name, within: workers.within, env: { GRANGE_WORKER_SLOTS: "1" } });
    const run = async (count: number) => {
      const prepared = await Promise.all(Array.from({ length: count }, () => client.prepare()));
      const used = () => ({
        server: cpuOfProcessMs(farm.server.pid),
        all: servers.usedMs(),
        workers: workers.usedMs(),
        agents: farm.workers.reduce((sum, { pid }) => sum + cpuOfProcessMs(pid), 0),
      });
      const before = used();
      let next = 0;
      const drive = async () => {
        for (let execute = prepared[next++]; execute !== undefined; execute = prepared[next++])
          await execute();
      };
      await Promise.all(Array.from({ length: inFlight }, drive));
      const after = used();
      const each = (of: (at: ReturnType<typeof used>) => number) =>
        (of(after) - of(before)) / count;
      return {
        server: each(({ server }) => server),
        database: each(({ all, server }) => all - server),
        workers: each((at) => at.workers),
        agents: each(({ agents }) => agents),
      };
    };
    await run(warmUps);
    const cpu = await run(actions);
    const how = `${actions} times /bin/true through Execute, ${inFlight} at a time; by the control groups of the server and the workers`;
    return [
      atMost("CPU for each no-op action: server", cpu.server, 4, "ms", how),
      atMost("CPU for each no-op action: PostgreSQL", cpu.database, 2, "ms", how),
      atMost("CPU for each no-op action: worker with sandbox", cpu.workers, 7, "ms", how),
      forInformation("CPU for each no-op action: the worker's Node process", cpu.agents, "ms", how),
    ];
  } finally {
    await client.close();
    await farm.stop();
    for (const group of [servers, workers]) group.remove();
  }
}
