import { RunOutcome } from "#api/graph.ts";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

interface ReportOptions extends CommonOptions {
  readonly started?: boolean;
  readonly outcome?: string;
  readonly message?: string;
  readonly run?: number;
  readonly exitCode?: number;
  readonly number?: readonly string[];
  readonly output?: readonly string[];
  readonly reporter?: string;
  readonly id?: string;
}

export const describeReport: Describe = (command) => {
  speaksToServer(command)
    .argument("<graph>", "a graph's id, a unique beginning of it, or `latest`")
    .argument("<job>", "a job whose definition says `outside: true`")
    .option("--started", "it has begun; without this, that it has ended")
    .option("--outcome <how>", "succeeded, failed, timed_out … of a run that has ended")
    .option("--exit-code <n>", "of its process", wholeNumber)
    .option("--message <text>", "for people")
    .option("--run <n>", "which run (default: the one under way, or the next)", wholeNumber)
    .option("--number <name=value>", "a number that it told; may be repeated", repeated)
    .option("--output <path=hash/size>", "a file that is in the project of the graph", repeated)
    .option("--reporter <name>", "which machine it was (default: who you are)")
    .option("--id <id>", "names the report: sent again, it changes nothing (default: random)")
    .action((graph: string, job: string, options: ReportOptions) =>
      inSession(options, async (session) => {
        const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
        const report = reportFrom(options);
        const taken = await session.api.call(jobEndpoints.reportRun, {
          params: { graph, job },
          body: report,
        });
        return answer(session, options, taken, () => [
          `${job}, run ${taken.run}: ${taken.state}${taken.known ? " (reported before)" : ""}.`,
        ]);
      }),
    );
  withExamples(command, [
    ["a machine of the lab has begun", "report latest device-test --started --reporter lab-7"],
    [
      "it passed, and this is its score",
      "report latest device-test --outcome succeeded --number score=42.5",
    ],
    ["from a script that may try again", "report 3f2a device-test --outcome failed --id build-17"],
  ]);
};

function reportFrom(options: ReportOptions) {
  const isStarted = options.started === true;
  const outcome = RunOutcome.safeParse(options.outcome);
  if (isStarted === (options.outcome !== undefined))
    throw new UsageError("say either --started, or with which --outcome it ended");
  if (!isStarted && !outcome.success)
    throw new UsageError(
      `"${options.outcome}" is no outcome; there are ${RunOutcome.options.join(", ")}`,
    );
  const { run, exitCode, message, reporter } = options;
  return {
    id: options.id ?? crypto.randomUUID(),
    state: isStarted ? ("started" as const) : ("finished" as const),
    ...(outcome.success ? { outcome: outcome.data } : {}),
    ...(run === undefined ? {} : { run }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(message === undefined ? {} : { message }),
    ...(reporter === undefined ? {} : { reporter }),
    numbers: Object.fromEntries(
      (options.number ?? []).map((text) => {
        const [name, value] = pair(text, "--number NAME=VALUE");
        return [name, Number(value)];
      }),
    ),
    outputs: (options.output ?? []).map((text) => {
      const [path, digest] = pair(text, "--output PATH=HASH/SIZE");
      return { path, digest };
    }),
  };
}

function pair(text: string, how: string): readonly [name: string, value: string] {
  const equals = text.lastIndexOf("=");
  if (equals < 1) throw new UsageError(`"${text}" cannot be read; write ${how}`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}
