import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";

interface ReleaseOptions extends CommonOptions {
  readonly stop?: boolean;
  readonly reason?: string;
}

export const describeRelease: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("<job>", "the breakpoint")
    .option("--stop", "let it fail: what needs it is skipped")
    .option("--reason <text>", "why, for those who ask later")
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
    ["let the graph go on", "release latest sign-off"],
    ["end it there", 'release 3f2a sign-off --stop --reason "crash on start, see 4711"'],
  ]);
};
