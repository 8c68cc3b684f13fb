import type { ChangeOptions } from "../carry-out-change.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { changesJobs, choosesJobs, graphOfChoice, type JobChoiceOptions } from "../job-choice.ts";
import { inSession } from "../session.ts";

interface ActivateOptions extends ChangeOptions, JobChoiceOptions {
  readonly downstream?: boolean;
  readonly reason?: string;
}

export const describeActivate: Describe = (command) => {
  changesJobs(choosesJobs(speaksToServer(command)))
    .option("--downstream", "also inactive jobs that depend on them")
    .action((selection: string, options: ActivateOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { carryOutChange } = await import("../carry-out-change.ts");
        const { graph, request } = requestOf(selection, options);
        const downstream = options.downstream === true;
        return carryOutChange(session, options, (how) =>
          request.wholeSet
            ? session.api.call(rerunEndpoints.activateSet, {
                params: { set: graph },
                body: { ...request, downstream, ...how },
              })
            : session.api.call(rerunEndpoints.activate, {
                params: { graph },
                body: { ...request, downstream, ...how },
              }),
        );
      }),
    );
  withExamples(command, [
    ["an inactive job of the newest graph", "activate talos"],
    ["with all jobs that depend on it", "activate 'suite:l10n' --downstream --graph 3f2a"],
  ]);
};

export const describeDeactivate: Describe = (command) => {
  changesJobs(choosesJobs(speaksToServer(command))).action(
    (selection: string, options: ActivateOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { carryOutChange } = await import("../carry-out-change.ts");
        const { graph, request } = requestOf(selection, options);
        return carryOutChange(session, options, (how) =>
          request.wholeSet
            ? session.api.call(rerunEndpoints.deactivateSet, {
                params: { set: graph },
                body: { ...request, ...how },
              })
            : session.api.call(rerunEndpoints.deactivate, {
                params: { graph },
                body: { ...request, ...how },
              }),
        );
      }),
  );
  withExamples(command, [["a job that has not started and is not needed", "deactivate talos"]]);
};

function requestOf(selection: string, options: ActivateOptions) {
  const { graph, wholeSet } = graphOfChoice(options);
  const { reason } = options;
  return { graph, request: { selection, wholeSet, ...(reason === undefined ? {} : { reason }) } };
}
