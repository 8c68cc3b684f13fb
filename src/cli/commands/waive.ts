import type { ChangeOptions } from "../carry-out-change.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";

interface WaiveOptions extends ChangeOptions {
  readonly reason?: string;
  readonly undo?: boolean;
}

export const describeWaive: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("<job>", "the job that waits")
    .argument("<on>", "the job that it is not to wait for")
    .option("--reason <text>", "why; must be given, and is kept with your name")
    .option("--undo", "wait for it after all: before the job starts, or when it is over")
    .option("--dry-run", "only say what would happen")
    .option("--yes", "do not ask")
    .action((graph: string, job: string, on: string, options: WaiveOptions) =>
      inSession(options, async (session) => {
        const { reason, undo = false } = options;
        if (reason === undefined) {
          throw new UsageError('say why, for those who ask later: --reason "known to fail on arm"');
        }
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { carryOutChange } = await import("../carry-out-change.ts");
        return carryOutChange(session, options, (how) =>
          session.api.call(rerunEndpoints.waive, {
            params: { graph },
            body: { job, on, reason, undo, ...how },
          }),
        );
      }),
    );
  withExamples(command, [
    [
      "publish although lint failed",
      'waive latest publish lint --reason "lint is broken, not we" --yes',
    ],
  ]);
};
