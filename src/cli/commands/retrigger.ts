import { Option } from "commander";
import type { RerunMode } from "#api/rerun.ts";
import type { ChangeOptions } from "../carry-out-change.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { changesJobs, choosesJobs, graphOfChoice, type JobChoiceOptions } from "../job-choice.ts";
import { inSession } from "../session.ts";
import { numberFrom } from "../whole-number.ts";

interface RetriggerOptions extends ChangeOptions, JobChoiceOptions {
  readonly alone?: boolean;
  readonly downstream?: boolean;
  readonly times?: number;
  readonly another?: boolean;
  readonly reason?: string;
}

export const describeRetrigger: Describe = (command) => {
  changesJobs(choosesJobs(speaksToServer(command)))
    .option("--alone", "what was skipped because of them stays out, as inactive")
    .addOption(
      new Option("--downstream", "all that depends on them runs anew as well, in order").conflicts(
        "alone",
      ),
    )
    .option(
      "--times <n>",
      "so many runs one after the other, whatever comes of them; at most 100",
      numberFrom(1, 100),
    )
    .option("--another", "of what is queued or running, too: further runs after that one")
    .action((selection: string, options: RetriggerOptions) => run(selection, options, false));
  withExamples(command, [
    [
      "what failed in the newest graph, and what was skipped because of it",
      "retrigger state:failed",
    ],
    ["only say what would run", "retrigger 'platform:win32 & pgo' --set 3f2a --dry-run"],
    ["one more run of what is running now, when it is over", "retrigger e2e --another"],
    ["twenty runs of one test, to see how often it fails", "retrigger flaky --times 20"],
  ]);
};

export const describeRerunStale: Describe = (command) => {
  changesJobs(choosesJobs(speaksToServer(command), "*")).action(
    (selection: string, options: RetriggerOptions) => run(selection, options, true),
  );
  withExamples(command, [
    ["all that ran on what is no longer given", "rerun-stale"],
    ["what hangs on the build, but not the build", "rerun-stale build --graph 3f2a"],
  ]);
};

function run(selection: string, options: RetriggerOptions, onlyStale: boolean): Promise<void> {
  return inSession(options, async (session) => {
    const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
    const { carryOutChange } = await import("../carry-out-change.ts");
    const { graph, wholeSet } = graphOfChoice(options);
    const request = {
      selection,
      wholeSet,
      onlyStale,
      mode: modeOf(options),
      ...(options.times === undefined ? {} : { times: options.times }),
      ...(options.another === true ? { another: true } : {}),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    };
    return carryOutChange(session, options, (how) =>
      request.wholeSet
        ? session.api.call(rerunEndpoints.retriggerSet, {
            params: { set: graph },
            body: { ...request, ...how },
          })
        : session.api.call(rerunEndpoints.retrigger, {
            params: { graph },
            body: { ...request, ...how },
          }),
    );
  });
}

function modeOf({ alone, downstream }: RetriggerOptions): RerunMode {
  if (downstream === true) return "downstream";
  return alone === true ? "alone" : "revive";
}
