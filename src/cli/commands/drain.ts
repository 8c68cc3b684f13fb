import { setTimeout as wait } from "node:timers/promises";
import type { Drain } from "#api/drain.ts";
import type { Worker } from "#api/worker.ts";
import { fitsStars } from "#core/star-pattern.ts";
import type { ApiClient } from "../api/api-client.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

interface DrainOptions extends CommonOptions {
  readonly reason?: string;
  readonly wait?: boolean;
  readonly end?: boolean;
}

/** How often to check whether a worker has ended its last execution. */
const lookEveryMs = 500;

export const describeDrain: Describe = (command) => {
  speaksToServer(command)
    .argument("[workers]", "a worker's name, or a pattern in which * stands for any characters")
    .option("--reason <text>", "why, for those who look at the workers")
    .option("--wait", "come back only when they have ended all they had")
    .option("--end", "let them take work again")
    .action((pattern: string | undefined, options: DrainOptions) =>
      inSession(options, async (session) => {
        const { workerEndpoints } = await import("#api/endpoints/worker-endpoints.ts");
        if (pattern === undefined) {
          const drains = await session.api.call(workerEndpoints.drains, {});
          return answer(session, options, drains, () => drainLines(drains));
        }
        if (options.end === true) {
          const drains = await session.api.call(workerEndpoints.removeDrain, { body: { pattern } });
          const resting = (await workersIn(session.api, pattern)).filter(
            ({ state }) => state === "draining",
          );
          return answer(session, options, drains, () => [
            resting.length === 0
              ? `${pattern} may take work again.`
              : `${pattern} is no drain any more, but another one holds for ${resting.length} of them; grange drain lists what there is.`,
          ]);
        }
        const { reason } = options;
        const drains = await session.api.call(workerEndpoints.addDrain, {
          body: {
            pattern,
            ...(reason === undefined ? {} : { reason }),
          },
        });
        let held = await heldBy(session.api, pattern);
        if (options.wait === true) {
          if (held > 0) session.terminal.notes.line(`Waits for ${held} to end …`);
          // At least two checks: a server may lease an execution while it receives the drain.
          do {
            await wait(lookEveryMs);
            held = await heldBy(session.api, pattern);
          } while (held > 0);
        }
        return answer(session, options, drains, () => [
          held === 0
            ? `${pattern} takes nothing new, and runs nothing.`
            : `${pattern} takes nothing new; ${held} still to end.`,
        ]);
      }),
    );
  withExamples(command, [
    ["before a machine is switched off", "drain rack-7/a --reason 'new disks' --wait"],
    ["a whole rack, those to come included", "drain 'rack-7/*'"],
    ["let them work again", "drain 'rack-7/*' --end"],
    ["which workers are drained", "drain"],
  ]);
};

async function workersIn(api: ApiClient, pattern: string): Promise<Worker[]> {
  const { workerEndpoints } = await import("#api/endpoints/worker-endpoints.ts");
  const workers = await api.call(workerEndpoints.workers, {});
  return workers.filter(({ name }) => fitsStars(pattern.split("*"), name));
}

/** Returns how many executions the workers that match a pattern hold, started or not. */
async function heldBy(api: ApiClient, pattern: string): Promise<number> {
  const workers = await workersIn(api, pattern);
  return workers.reduce((sum, { heldCount }) => sum + heldCount, 0);
}

function drainLines(drains: readonly Drain[]): string[] {
  if (drains.length === 0) return ["No worker is drained."];
  return tableLines([
    ["workers", "by", "since", "reason"],
    ...drains.map(({ pattern, createdBy, createdAt, reason }) => [
      pattern,
      createdBy,
      createdAt,
      printableLine(reason) || "-",
    ]),
  ]);
}
