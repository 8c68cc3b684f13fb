import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GraphSummary } from "#api/graph.ts";
import { type Farm, grange, startFarm } from "../support/farm.ts";
import { lockingMachine } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { type Program, startProgram } from "../support/process.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";
import { container, pidNamespace } from "./second-server.ts";

let dataDir: string;
let repository: SampleRepository;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-shared-data-"));
  repository = await sampleRepository({
    ".grange/farm.yml": "version: 1\njobs: { a: { kind: dummy } }\n",
  });
});
afterAll(async () => {
  await repository.remove();
  await rm(dataDir, { recursive: true, force: true });
});

test(
  "of two containers with one data directory, one has a server until it ends; then the other has all of its data",
  needs(pidNamespace, lockingMachine),
  async () => {
    const first = await startFarm({ dataDir, workers: 0, serverWithin: container });
    const { id } = await first.submit({ repository: repository.path });
    await first.untilOver(id);

    const refused = await startInContainer().finished;

    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(
      /another Grange server \(process \d+ in another container of this machine, host name .*\) has worked in/,
    );
    expect((await first.graph(id)).state).toBe("succeeded");

    await kill(first);
    const second = await startFarm({ dataDir, workers: 0, serverWithin: container });
    const graphs = (await (await fetch(`${second.url}/api/v1/graphs`)).json()) as GraphSummary[];
    await kill(second);

    expect(graphs.map((graph) => [graph.id, graph.state])).toEqual([[id, "succeeded"]]);
  },
);

function startInContainer(): Program {
  const [program = "", ...args] = container;
  const server = [grange, "server", "--data", dataDir, "--port", "0"];
  return startProgram(program, [...args, process.execPath, ...server]);
}

/** With all processes of its container. */
async function kill({ server }: Farm): Promise<void> {
  server.signal("SIGKILL");
  await server.finished;
}
