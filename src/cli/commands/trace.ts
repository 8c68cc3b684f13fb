import { Option } from "commander";
import type { Describe } from "../command-list.ts";
import { answersJson, speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { traceSeed } from "../trace-seed.ts";

interface ExportOptions extends CommonOptions {
  readonly since: string;
}

interface StandardOptions extends CommonOptions {
  readonly seed: number;
}

export const describeTrace: Describe = (command) => {
  const exported = command
    .command("export")
    .description("write the executions of a farm as a trace to standard output");
  speaksToServer(exported)
    .option("--since <duration>", "the period before now", "7d")
    .action((options: ExportOptions) =>
      inSession(options, async ({ api, terminal }) => {
        const { printLog } = await import("../print-log.ts");
        const { pathOfCall } = await import("#api/endpoint.ts");
        const { sizeClassEndpoints } = await import("#api/endpoints/size-class-endpoints.ts");
        const path = pathOfCall(sizeClassEndpoints.sizeClassTrace, {}, { since: options.since });
        await printLog(api.bytes(path), terminal);
        return exitCodes.ok;
      }),
    );
  withExamples(exported, [
    ["a trace of last week, to simulate other strategies", "trace export --since 7d > week.jsonl"],
  ]);

  const listed = command.command("list").description("list the standard traces");
  answersJson(listed).action((options: CommonOptions) =>
    inSession(options, async (session) => {
      const { standardTraces } = await import("#simulate/traces/standard-traces.ts");
      const names = Object.keys(standardTraces);
      return answer(session, options, names, () => names);
    }),
  );

  const standard = command
    .command("standard <name>")
    .description("write a standard trace to standard output");
  standard
    .addOption(
      new Option("--seed <number>", "the seed of the random numbers")
        .argParser(traceSeed)
        .default(1),
    )
    .action((name: string, options: StandardOptions) =>
      inSession(options, async ({ terminal }) => {
        const { standardTraces } = await import("#simulate/traces/standard-traces.ts");
        const { traceLines } = await import("#simulate/write-trace.ts");
        const { UsageError } = await import("../usage-error.ts");
        const make = Object.hasOwn(standardTraces, name) ? standardTraces[name] : undefined;
        if (make === undefined) {
          const names = Object.keys(standardTraces).join(", ");
          throw new UsageError(`there is no standard trace "${name}"; the traces are ${names}`);
        }
        terminal.answer.write([...traceLines(make(options.seed))].join(""));
        return exitCodes.ok;
      }),
    );
  withExamples(standard, [
    ["a trace that you can change by hand", "trace standard bursts --seed 7 > bursts.jsonl"],
  ]);
};
