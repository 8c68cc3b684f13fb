import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { shortened, tableLines } from "../terminal/table.ts";

export const describeSet: Describe = (command) => {
  speaksToServer(command)
    .argument(
      "<set>",
      "the name of a set, or any graph of it: the id, a unique prefix of it, or `latest`",
    )
    .action((written: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const set = await session.api.call(rerunEndpoints.graphSet, { params: { set: written } });
        return answer(session, options, set, () =>
          tableLines(
            set.graphs.map((one) => [
              one.id.slice(0, 8),
              one.state,
              `${one.counts.succeeded ?? 0}/${one.jobs}`,
              one.parent === null ? "" : `${one.parent.kind} of ${one.parent.id.slice(0, 8)}`,
              one.repository,
              one.customised === 0 ? "" : "customised",
              one.commit.slice(0, 10),
              shortened(printableLine(one.subject), 60),
            ]),
          ),
        );
      }),
    );
  withExamples(command, [
    ["list the graphs of the set of the newest graph", "set latest"],
    ["list the graphs that were submitted with `--set nightly-0412`", "set nightly-0412"],
  ]);
};
