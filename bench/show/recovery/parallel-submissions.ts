import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atLeast, atMost, exactly, type Measurement } from "../row.ts";

const submissions = 200;
const repositories = 4;
const commitsEach = 10;

/** Six jobs, as in a small project: the path of a submission is measured, not the size of its graph. */
const definitions = `
version: 1
jobs:
  build: { commands: "cat main.txt", inputs: [main.txt] }
  lint: { commands: "cat main.txt", inputs: [main.txt] }
  unit: { commands: "true", inputs: [main.txt], needs: [build] }
  system: { commands: "true", inputs: [main.txt], needs: [build] }
  docs: { commands: "true", inputs: [main.txt] }
  package: { commands: "true", inputs: [main.txt], needs: [unit, system, docs] }
`;

export const parallelSubmissions: Measurement = {
  title: "200 parallel submissions",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 1 });
    const made = await Promise.all(
      Array.from({ length: repositories }, (_, n) =>
        sampleRepository({ ".grange/farm.yml": definitions, "main.txt": `repository ${n}\n` }),
      ),
    );
    try {
      const commits: { readonly repository: string; readonly rev: string }[] = [];
      for (const repository of made)
        for (let i = 0; i < commitsEach; i++)
          commits.push({
            repository: repository.path,
            rev: await repository.commit({ "main.txt": `${repository.path} ${i}\n` }),
          });
      const times: number[] = [];
      const begun = performance.now();
      const answers = await Promise.all(
        Array.from({ length: submissions }, async (_, i) => {
          const started = performance.now();
          const answer = await fetch(`${farm.url}/api/v1/graphs`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(commits[i % commits.length]),
          });
          const text = await answer.text();
          if (answer.status >= 300 && i === 0) process.stderr.write(`${text}\n`);
          times.push(performance.now() - started);
          return answer.status;
        }),
      );
      const seconds = (performance.now() - begun) / 1_000;
      const how =
        `${submissions} POST /graphs at once on a fresh farm with a worker: ${repositories} repositories that it ` +
        `never saw, ${commits.length} commits, six jobs each; p50 ${Math.round(quantile(times, 0.5))} ms`;
      return [
        exactly(
          "parallel submissions that failed",
          answers.filter((status) => status >= 300).length,
          0,
          "",
          how,
        ),
        atLeast("parallel submissions", submissions / seconds, 50, "a second", how),
        atMost("parallel submissions, p99", quantile(times, 0.99), 5_000, "ms", how),
      ];
    } finally {
      await farm.stop();
      await Promise.all(made.map((repository) => repository.remove()));
    }
  },
};
