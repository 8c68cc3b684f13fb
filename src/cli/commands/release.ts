import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

interface ReleaseOptions extends CommonOptions {
  readonly stop?: boolean;
  readonly reason?: string;
}

export const describeRelease: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "the breakpoint")
    .option("--stop", "let it fail: jobs that need it are skipped")
    .option("--reason <text>", "the reason, which others can read later")
    .action((graph: string, job: string, options: ReleaseOptions) =>
      inSession(options, async (session) => {
        const { rerunEndpoints } = await import("#api/endpoints/rerun-endpoints.ts");
        const { reason } = options;
        const released = await session.api.call(rerunEndpoints.release, {
          params: { graph },
          body: {
            job,
            verdict: options.stop === true ? "stop" : "go",
            ...(reason === undefined ? {} : { reason }),
          },
        });
        return answer(session, options, released, () => [
          released.verdict === "go" ? `${job} is released.` : `${job} was stopped, and has failed.`,
        ]);
      }),
    );
  withExamples(command, [
    ["continue the graph", "release latest sign-off"],
    ["stop the graph there", 'release 3f2a sign-off --stop --reason "crash on start, see 4711"'],
  ]);
};
