import { z } from "zod";
import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";

/** Checking each job would be the reader's time, not the farm's. */
const SomeGraph = z.object({ jobList: z.array(z.unknown()) });

export const jobs = 10_000;
const repeats = 5;
const width = 100;

/** Ten files of a thousand jobs, in layers of a hundred; each job needs three of the layer before. */
export function layeredDefinitions(): Record<string, string> {
  const lines = Array.from({ length: jobs }, (_, i) => {
    const before = Math.floor(i / width) * width - width;
    const needs = [0, 7, 19].map((step) => `job-${before + ((i + step) % width)}`);
    const needing = before < 0 ? "" : `needs: [${[...new Set(needs)].join(", ")}], `;
    return `  job-${i}: { ${needing}inputs: [none], tags: { kind: test }, commands: "true" }`;
  });
  const files = Array.from({ length: 10 }, (_, n) => {
    const some = lines.slice((n * jobs) / 10, ((n + 1) * jobs) / 10);
    return [`.grange/farm-${n}.yml`, ["version: 1", "jobs:", ...some, ""].join("\n")];
  });
  return Object.fromEntries(files);
}

export const tenThousand: Measurement = {
  title: "a graph of 10,000 jobs",
  long: false,
  async measure() {
    // No worker: planning, storing and showing are measured.
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({ ...layeredDefinitions(), none: "" });
    try {
      const submit = async () => {
        const { id } = await farm.submit({ repository: repository.path, parameters: {} });
        const answer = await fetch(`${farm.url}/api/v1/graphs/${id}`);
        const graph = SomeGraph.parse(await answer.json());
        if (graph.jobList.length !== jobs) throw new Error(`only ${graph.jobList.length} jobs`);
      };
      const firstAt = performance.now();
      await submit();
      const first = performance.now() - firstAt;
      const times: number[] = [];
      for (let i = 0; i < repeats; i++) {
        const startedAt = performance.now();
        await submit();
        times.push(performance.now() - startedAt);
      }
      return [
        atMost(
          "10,000 jobs: planned, stored and visible",
          quantile(times, 0.5),
          1_000,
          "ms",
          `POST /graphs, then GET of the whole graph, as a client sees it; median of ${repeats}; the very first, with definitions never seen before: ${Math.round(first)} ms`,
        ),
      ];
    } finally {
      await farm.stop();
      await repository.remove();
    }
  },
};
