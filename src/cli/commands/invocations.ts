import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { countsText, invocationTitle } from "../invocation-words.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface InvocationsOptions extends CommonOptions {
  readonly project?: string;
  readonly commit?: string;
  readonly limit?: number;
}

export const describeInvocations: Describe = (command) => {
  speaksToServer(command)
    .option(
      "--project <name>",
      "only invocations of this project, which REv2 calls the instance name",
    )
    .option("--commit <sha>", "only invocations that built this commit; a prefix is enough")
    .option("--limit <n>", "the largest number of invocations to list (default: 20)", wholeNumber)
    .action((options: InvocationsOptions) =>
      inSession(options, async (session) => {
        const { invocationEndpoints } = await import("#api/endpoints/invocation-endpoints.ts");
        const { project, commit, limit = 20 } = options;
        const list = await session.api.call(invocationEndpoints.invocations, {
          query: { project, commit, limit },
        });
        return answer(session, options, list, () =>
          list.invocations.length === 0
            ? [
                "No build tool has used this farm yet. The page /connect shows how to configure one.",
              ]
            : tableLines([
                ["invocation", "state", "project", "what", "who", "actions", "began"],
                ...list.invocations.map((each) => [
                  printableLine(each.id),
                  each.state,
                  each.project,
                  invocationTitle(each),
                  printableLine(each.build?.user || each.principal),
                  countsText(each.counts),
                  timeText(each.startedAt),
                ]),
              ]),
        );
      }),
    );
  withExamples(command, [
    ["list recent invocations", "invocations"],
    [
      "list invocations that built the current commit",
      "invocations --commit $(git rev-parse HEAD)",
    ],
  ]);
};
