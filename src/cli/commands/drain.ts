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
    .option("--reason <text>", "the reason, which the list of workers shows")
    .option("--wait", "wait until they have finished all their jobs")
    .option("--end", "end the drain: the workers take jobs again")
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
              ? `${pattern} may take jobs again.`
              : `${pattern} is no longer drained, but another drain still applies to ${resting.length} of these workers. grange drain lists all drains.`,
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
          if (held > 0) session.terminal.notes.line(`Waiting for ${held} to finish …`);
          // At least two checks: a server may lease an execution while it receives the drain.
          do {
            await wait(lookEveryMs);
            held = await heldBy(session.api, pattern);
          } while (held > 0);
        }
        return answer(session, options, drains, () => [
          held === 0
            ? `${pattern} takes no new jobs, and runs none.`
            : `${pattern} takes no new jobs; ${held} still running.`,
        ]);
      }),
    );
  withExamples(command, [
    [
      "drain a worker before you switch off its machine",
      "drain rack-7/a --reason 'new disks' --wait",
    ],
    ["drain a whole rack, including workers that start later", "drain 'rack-7/*'"],
    ["end the drain", "drain 'rack-7/*' --end"],
    ["list drained workers", "drain"],
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
