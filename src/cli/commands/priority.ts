import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { priorityNumber } from "../priority-number.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

interface PriorityOptions extends CommonOptions {
  readonly job?: string;
  readonly top?: boolean;
  readonly reason?: string;
}

export const describePriority: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("[priority]", "from -1000 to 1000; a higher number starts sooner", priorityNumber)
    .option("--job <name>", "only this job; its priority is added to the priority of the graph")
    .option("--top", "put it into the top class, which starts before all others")
    .option("--no-top", "take it out of the top class")
    .option("--reason <text>", "the reason, which others can read later")
    .action((graph: string, priority: number | undefined, options: PriorityOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { job, top, reason } = options;
        if (priority === undefined && top === undefined)
          throw new UsageError("give a priority such as 50, or --top or --no-top");
        const changed = await session.api.call(rerunEndpoints.setPriority, {
          params: { graph },
          body: {
            ...(job === undefined ? {} : { job }),
            ...(priority === undefined ? {} : { priority }),
            ...(top === undefined ? {} : { top }),
            ...(reason === undefined ? {} : { reason }),
          },
        });
        if (changed.notice !== null)
          session.terminal.notes.line(`${printableLine(changed.notice)}.`);
        if (changed.job !== null) {
          const line = `Job ${printableLine(changed.job)} has priority ${changed.priority}, which is added to that of its graph; ${changed.moved} jobs moved in the queue.`;
          return answer(session, options, changed, () => [line]);
        }
        return answer(session, options, changed, () => [
          `Graph ${changed.id.slice(0, 8)} has priority ${changed.priority}${changed.top ? ", in the top class" : ""}; ${changed.moved} of its jobs moved in the queue.`,
        ]);
      }),
    );
  withExamples(command, [
    ["before other graphs", "priority 3f2a 50 --reason 'blocks the release'"],
    ["before all other graphs; needs a grant", "priority 3f2a --top"],
    ["one job before the other jobs of the graph", "priority latest 20 --job build"],
    ["after other graphs", "priority latest -20"],
  ]);
};
