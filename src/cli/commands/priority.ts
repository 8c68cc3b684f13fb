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
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("[priority]", "from -1000 to 1000; higher is sooner", priorityNumber)
    .option("--job <name>", "of this job alone: its own, added to that of the graph")
    .option("--top", "put it into the class that nothing overtakes")
    .option("--no-top", "take it out of that class")
    .option("--reason <text>", "why, for those who ask later")
    .action((graph: string, priority: number | undefined, options: PriorityOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { job, top, reason } = options;
        if (priority === undefined && top === undefined)
          throw new UsageError("say how soon: a priority such as 50, --top or --no-top");
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
          const line = `Job ${printableLine(changed.job)} has priority ${changed.priority}, beside that of its graph; ${changed.moved} jobs moved in the queue.`;
          return answer(session, options, changed, () => [line]);
        }
        return answer(session, options, changed, () => [
          `Graph ${changed.id.slice(0, 8)} has priority ${changed.priority}${changed.top ? ", in the top class" : ""}; ${changed.moved} of its jobs moved in the queue.`,
        ]);
      }),
    );
  withExamples(command, [
    ["sooner than others", "priority 3f2a 50 --reason 'blocks the release'"],
    ["before everything, with a grant for it", "priority 3f2a --top"],
    ["one job of it sooner than the others", "priority latest 20 --job build"],
    ["later than others", "priority latest -20"],
  ]);
};
