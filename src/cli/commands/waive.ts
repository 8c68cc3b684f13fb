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
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the waiting job")
    .argument("<on>", "the job that it no longer waits for")
    .option("--reason <text>", "the reason; required, and stored with your name")
    .option("--undo", "remove the waiver; possible before the job starts or after it has ended")
    .option("--dry-run", "only print what would happen")
    .option("--yes", "do not ask")
    .action((graph: string, job: string, on: string, options: WaiveOptions) =>
      inSession(options, async (session) => {
        const { reason, undo = false } = options;
        if (reason === undefined) {
          throw new UsageError(
            'give a reason, which others can read later: --reason "known to fail on arm"',
          );
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
      "run publish although lint failed",
      'waive latest publish lint --reason "the linter has a bug" --yes',
    ],
  ]);
};
