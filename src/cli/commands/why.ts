import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";

export const describeWhy: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("<job>", "the job's name")
    .action((graph: string, job: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { jobWaiting } = await import("../api/waiting-calls.ts");
        const { waiting } = await jobWaiting(session.api, graph, job);
        return answer(session, options, { waiting }, () =>
          waiting === null
            ? [`${job} does not wait: it runs, or is over. See: grange runs ${graph} ${job}`]
            : [
                `${job} ${printableLine(waiting.sentence)}`,
                ...(waiting.advice === null
                  ? []
                  : [`What helps: ${printableLine(waiting.advice)}`]),
              ],
        );
      }),
    );
  withExamples(command, [
    ["why the job tests of the newest graph does not run", "why latest tests"],
    ["the reason and its numbers, for a script", "why 3f2a tests --json"],
  ]);
};
