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
    .argument("<graph>", "the id of a graph, a unique prefix of it, or `latest`")
    .argument("<job>", "a job whose definition says `outside: true`")
    .option("--started", "report that it has started (default: that it has ended)")
    .option("--outcome <how>", "the outcome of the run: succeeded, failed, timed_out …")
    .option("--exit-code <n>", "the exit code of its process", wholeNumber)
    .option("--message <text>", "a message for people")
    .option("--run <n>", "the run (default: the current one, or the next)", wholeNumber)
    .option("--number <name=value>", "a number that the run reported; may be repeated", repeated)
    .option(
      "--output <path=hash/size>",
      "an output file that is in the project of the graph",
      repeated,
    )
    .option("--reporter <name>", "the machine that ran it (default: your name)")
    .option(
      "--id <id>",
      "the id of the report: a second report with this id changes nothing (default: random)",
    )
    .action((graph: string, job: string, options: ReportOptions) =>
      inSession(options, async (session) => {
        const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
        const report = reportFrom(options);
        const taken = await session.api.call(jobEndpoints.reportRun, {
          params: { graph, job },
          body: report,
        });
        return answer(session, options, taken, () => [
          `${job}, run ${taken.run}: ${taken.state}${taken.known ? " (already reported)" : ""}.`,
        ]);
      }),
    );
  withExamples(command, [
    [
      "a machine of the lab has started a job",
      "report latest device-test --started --reporter lab-7",
    ],
    [
      "the job succeeded, with a score",
      "report latest device-test --outcome succeeded --number score=42.5",
    ],
    [
      "from a script that may repeat the report",
      "report 3f2a device-test --outcome failed --id build-17",
    ],
  ]);
};

function reportFrom(options: ReportOptions) {
  const isStarted = options.started === true;
  const outcome = RunOutcome.safeParse(options.outcome);
  if (isStarted === (options.outcome !== undefined))
    throw new UsageError("give --started, or --outcome with the outcome of the run");
  if (!isStarted && !outcome.success)
    throw new UsageError(
      `"${options.outcome}" is not an outcome; the outcomes are ${RunOutcome.options.join(", ")}`,
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
