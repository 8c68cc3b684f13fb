import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { wholeNumber } from "../whole-number.ts";

interface TargetOptions extends CommonOptions {
  readonly project: string;
  readonly limit?: number;
}

export const describeTarget: Describe = (command) => {
  speaksToServer(command)
    .argument("<label>", "the target's name, as the build tool writes it")
    .option("--project <name>", "its project, which REv2 calls the instance name", "default")
    .option("--limit <n>", "the largest number of builds to list (default: 30)", wholeNumber)
    .action((label: string, options: TargetOptions) =>
      inSession(options, async (session) => {
        const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
        const { historyLines } = await import("../invocation-part-lines.ts");
        const { project, limit = 30 } = options;
        const history = await session.api.call(invocationEndpoints.targetHistory, {
          query: { project, label, limit },
        });
        return answer(session, options, history, () => historyLines(history));
      }),
    );
  withExamples(command, [
    ["show how a test went in the latest builds", "target //lib/store:store_test"],
  ]);
};
