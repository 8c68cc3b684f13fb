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
    .option("--alone", "jobs that were skipped because of them stay inactive")
    .addOption(
      new Option("--downstream", "also run all jobs again that depend on them, in order").conflicts(
        "alone",
      ),
    )
    .option(
      "--times <n>",
      "run them this many times in sequence, regardless of the results; at most 100",
      numberFrom(1, 100),
    )
    .option("--another", "also run jobs again that are queued or running, after the current run")
    .action((selection: string, options: RetriggerOptions) => run(selection, options, false));
  withExamples(command, [
    [
      "run failed jobs of the newest graph again, and jobs that were skipped because of them",
      "retrigger state:failed",
    ],
    ["only print what would run", "retrigger 'platform:win32 & pgo' --set 3f2a --dry-run"],
    ["run a job again after its current run", "retrigger e2e --another"],
    ["run a test twenty times, to see how often it fails", "retrigger flaky --times 20"],
  ]);
};

export const describeRerunStale: Describe = (command) => {
  changesJobs(choosesJobs(speaksToServer(command), "*")).action(
    (selection: string, options: RetriggerOptions) => run(selection, options, true),
  );
  withExamples(command, [
    ["run all stale jobs again", "rerun-stale"],
    ["only stale jobs that depend on build", "rerun-stale build --graph 3f2a"],
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
