import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GraphSummary } from "#api/graph.ts";
import type { Worker } from "#api/worker.ts";
import { startFarm } from "../support/farm.ts";
import { needs } from "../support/needs/needs.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import { onDiskOf, onSmallDisk, type SmallDisk, smallDisk } from "../support/small-disk.ts";

async function newest({ farm }: SmallDisk): Promise<GraphSummary> {
  const [graph] = (await (await fetch(`${farm.url}/api/v1/graphs`)).json()) as GraphSummary[];
  if (graph === undefined) throw new Error("there is no graph");
  return graph;
}

const told = /no space is left in \/.*\/blobs.*Free disk space, or move the directory/;

test(
  "an output that does not fit on the disk fails only its job, which succeeds once there is space",
  needs(smallDisk),
  async () => {
    await onSmallDisk(async (disk) => {
      const { farm, repository } = disk;
      const free = await disk.fill(4_000_000);

      const submitted = await disk.submit();

      expect(submitted.code).toBe(1);
      expect(submitted.stderr).toMatch(told);
      const { id, counts } = await newest(disk);
      expect(counts).toEqual({ succeeded: 2, failed: 1 });
      const [run] = (await farm.job(id, "large")).runList;
      expect(run).toMatchObject({ outcome: "infrastructure_error", outputs: [] });
      expect(run?.message).toMatch(told);
      // Outputs of other jobs still exist, and the farm answers.
      const made = await fetch(
        `${farm.url}/api/v1/graphs/${id}/jobs/small/runs/1/outputs/small.out`,
      );
      expect(await made.text()).toBe("small\n");

      await free();
      const again = await farm.submit({ repository: repository.path });

      const { state, jobList } = await farm.untilOver(again.id);
      expect(state).toBe("succeeded");
      expect(Object.fromEntries(jobList.map(({ name, cached }) => [name, cached]))).toEqual({
        large: false,
        reads: true,
        small: true,
      });
    });
  },
);

test(
  "jobs whose inputs do not fit on the disk say so, and start by themselves once there is space",
  needs(smallDisk),
  async () => {
    await onSmallDisk(async ({ farm, repository, fill }) => {
      const free = await fill(0);
      const { id } = await farm.submit({ repository: repository.path });
      await farm.until(id, ({ jobList }) => jobList.some(({ reason }) => told.test(reason ?? "")));

      await free();

      expect((await farm.untilOver(id)).state).toBe("succeeded");
    });
  },
);

test(
  "a worker with a full disk returns work, reports the reason, and continues once there is space",
  needs(smallDisk),
  async () => {
    const repository = await sampleRepository({
      ".grange/farm.yml":
        "version: 1\njobs:\n  one: { commands: cat big | wc -c, inputs: [big] }\n",
      big: "x".repeat(3_000_000),
    });
    const farm = await startFarm({ workers: 0 });
    try {
      const disk = join(farm.dataDir, "workers");
      const worker = farm.startWorker({ within: onDiskOf(disk, 16) });
      const workers = async () =>
        (await (await fetch(`${farm.url}/api/v1/workers`)).json()) as Worker[];
      await expect.poll(async () => (await workers()).length, { timeout: 60_000 }).toBe(1);
      const seen = join("/proc", String(worker.pid), "root", disk);
      const { bavail, bsize } = await statfs(seen);
      await writeFile(join(seen, "filler"), Buffer.alloc(bavail * bsize - 200_000));

      const { id } = await farm.submit({ repository: repository.path });
      await expect
        .poll(async () => (await workers())[0]?.trouble, { timeout: 60_000 })
        .toMatch(/no space left/i);
      const why = await fetch(`${farm.url}/api/v1/graphs/${id}/jobs/one/waiting`);
      expect(await why.text()).toMatch(/runs nothing at present.*no space left/i);

      await rm(join(seen, "filler"));

      expect((await farm.untilOver(id)).state).toBe("succeeded");
      const { runList } = await farm.job(id, "one");
      expect(runList).toHaveLength(1);
      await expect.poll(async () => (await workers())[0]?.trouble).toBeNull();
    } finally {
      await farm.stop();
      await repository.remove();
    }
  },
);
