import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { exactly, type Measurement } from "../row.ts";

const jobs = 20;

/** A chain of two behind one of twenty jobs that each read one file. */
function files(): Record<string, string> {
  const names = Array.from({ length: jobs }, (_, i) => `part-${i}`);
  const definitions = names.map(
    (name) =>
      `  ${name}: { inputs: [${name}.txt], commands: "cp ${name}.txt ${name}.out", outputs: [${name}.out] }`,
  );
  return {
    ".grange/farm.yml": [
      "version: 1",
      "jobs:",
      ...definitions,
      "  second: { needs: [part-7], inputs: [none], commands: cp part-7.out second.out, outputs: [second.out] }",
      "  third: { needs: [second], inputs: [none], commands: cat second.out }",
      "",
    ].join("\n"),
    none: "",
    ...Object.fromEntries(names.map((name) => [`${name}.txt`, `${name}\n`])),
  };
}

export const oneFile: Measurement = {
  title: "one changed file",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 2 });
    const repository = await sampleRepository(files());
    try {
      await farm.untilOver((await farm.submit({ repository: repository.path })).id);
      await repository.commit({ "part-7.txt": "changed\n" });
      const { id } = await farm.submit({ repository: repository.path });
      const graph = await farm.untilOver(id);
      const executed = graph.jobList.filter((job) => !job.cached).map((job) => job.name);
      return [
        exactly(
          "one file changed: jobs executed",
          executed.toSorted().join(" "),
          "part-7 second third",
          "",
          `${jobs + 2} jobs; part-7 reads the file, second and third depend on it`,
        ),
      ];
    } finally {
      await farm.stop();
      await repository.remove();
    }
  },
};
