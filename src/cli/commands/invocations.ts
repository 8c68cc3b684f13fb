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
    .option("--project <name>", "only those of a project, which tools call an instance")
    .option("--commit <sha>", "only those that said they build this commit, or one that begins so")
    .option("--limit <n>", "how many at most (default: 20)", wholeNumber)
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
                "No build tool has asked this farm for anything yet. Its page /connect says how to point one here.",
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
    ["what build tools did lately", "invocations"],
    [
      "everything that built the commit that is checked out",
      "invocations --commit $(git rev-parse HEAD)",
    ],
  ]);
};
