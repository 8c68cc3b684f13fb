import { writeFile } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ChangeCollector } from "#api/collector.ts";
import { parseMemorySize } from "#core/memory-size.ts";
import { collectorLines } from "../collector/collector-lines.ts";
import type { RunOptions } from "../collector/run-collector.ts";
import type { Describe, Program } from "../command-list.ts";
import { logLevel, repeated, speaksToServer, withExamples } from "../common-options.ts";
import { exitCodes } from "../exit-code.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { numberFrom } from "../whole-number.ts";

export const describeCollector: Describe = (command, program) => {
  describeList(command);
  describeAdd(command);
  describeSet(command);
  describeRemove(command);
  describeRun(command, program);
  describeSelfTest(command, program);
  withExamples(command, [
    ["register a machine that measures all sets", "collector add lab-1 --target linux-x64"],
    [
      "two that share the work, and stand in for each other",
      "collector add lab-2 --target linux-x64 --set 1 --take-over 0",
    ],
    ["measure, until it is told to stop", "collector run lab-1 --token-file ~/.grange-token"],
    ["which there are, and what they do", "collector"],
    ["take one out for repairs", "collector set lab-2 --out-of-duty 'new fan'"],
    ["does it see changes where there are none?", "collector self-test lab-1"],
  ]);
};

function describeList(command: Command): void {
  speaksToServer(command.command("list", { isDefault: true }))
    .description("list collectors and what they do")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkCollectorEndpoints } = await import(
          "#api/endpoints/benchmark-collector-endpoints.ts"
        );
        const { collectors } = await session.api.call(
          benchmarkCollectorEndpoints.benchmarkCollectors,
          {},
        );
        return answer(session, options, { collectors }, () => collectorLines(collectors));
      }),
    );
}

interface SetOptions extends CommonOptions {
  readonly set?: number;
  readonly allSets?: boolean;
  readonly takeOver?: readonly string[];
  readonly takeOverNone?: boolean;
  /** Undefined, or false with `--inactive`. */
  readonly active?: boolean;
  readonly inactive?: boolean;
  readonly outOfDuty?: string;
  readonly inDuty?: boolean;
}

function describeAdd(command: Command): void {
  speaksToServer(command.command("add <name>"))
    .description("register a collector; its machine then calls `grange collector run`")
    .requiredOption("--target <target>", "what it measures on, such as linux-x64")
    .option("--set <n>", "the benchmark set that it serves (default: all)", setNumber)
    .option(
      "--take-over <n>",
      "a set that it takes over when its own collector is silent; may be repeated",
      repeated,
    )
    .option("--inactive", "it gets no work until it is set active")
    .action((name: string, options: SetOptions & { readonly target: string }) =>
      inSession(options, async (session) => {
        const { benchmarkCollectorEndpoints } = await import(
          "#api/endpoints/benchmark-collector-endpoints.ts"
        );
        const collector = await session.api.call(
          benchmarkCollectorEndpoints.addBenchmarkCollector,
          {
            body: {
              name,
              target: options.target,
              set: options.set ?? null,
              mayTakeOver: (options.takeOver ?? []).map(setNumber),
              active: options.inactive !== true,
            },
          },
        );
        return answer(session, options, collector, () => [
          `Collector ${name} is registered; on its machine, run: grange collector run ${name}`,
        ]);
      }),
    );
}

function describeSet(command: Command): void {
  speaksToServer(command.command("set <name>"))
    .description("change what a collector serves, and whether it does")
    .option("--active", "it gets work")
    .option("--inactive", "it gets none, and its place is free for another")
    .option("--set <n>", "the benchmark set that it serves", setNumber)
    .option("--all-sets", "it serves all")
    .option("--take-over <n>", "in place of those before; may be repeated", repeated)
    .option("--take-over-none", "it stands in for nobody")
    .option("--out-of-duty <why>", "it gets no work for a while")
    .option("--in-duty", "it gets work again")
    .action((name: string, options: SetOptions) =>
      inSession(options, async (session) => {
        const change = changeOf(options);
        const { benchmarkCollectorEndpoints } = await import(
          "#api/endpoints/benchmark-collector-endpoints.ts"
        );
        const collector = await session.api.call(
          benchmarkCollectorEndpoints.changeBenchmarkCollector,
          { params: { name }, body: change },
        );
        return answer(session, options, collector, () => collectorLines([collector]));
      }),
    );
}

function describeRemove(command: Command): void {
  speaksToServer(command.command("remove <name>"))
    .description("forget a collector that has measured nothing; others are set inactive")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { benchmarkCollectorEndpoints } = await import(
          "#api/endpoints/benchmark-collector-endpoints.ts"
        );
        await session.api.call(benchmarkCollectorEndpoints.removeBenchmarkCollector, {
          params: { name },
        });
        return answer(session, options, { name }, () => [`Collector ${name} is removed.`]);
      }),
    );
}

function describeRun(command: Command, program: Program): void {
  runs(command.command("run <name>"))
    .description("measure on this machine, until it is told to stop")
    .option("--no-self-test", "do not compare an artifact with itself when the server asks for it")
    .option(
      "--self-test-at <hh:mm>",
      "compare each night besides, by this machine's clock",
      timeOfDay,
    )
    .option(
      "--update-command <command>",
      `run by a shell before it ends with ${exitCodes.update} for an update`,
    )
    .option(
      "--enrol <token-or-file>",
      "an enrolment token: hand it in once, for a token of its own that lies in its directory (GRANGE_ENROL)",
    )
    .addOption(new Option("--end-with-parent").hideHelp())
    .action((name: string, options: RunOptions & CommonOptions & { readonly enrol?: string }) =>
      inSession(options, async (session) => {
        const { collectorConfig, runCollector } = await import("../collector/run-collector.ts");
        const { apiAsItself } = await import("../enrol/api-as-itself.ts");
        const config = await collectorConfig(name, options, program.version, session.api.serverUrl);
        const api = await apiAsItself(session, options, config);
        return runCollector(config, api, options);
      }),
    );
}

function describeSelfTest(command: Command, program: Program): void {
  runs(command.command("self-test <name>"))
    .description("compare what was measured last with itself: each change that it sees is false")
    .action((name: string, options: RunOptions & CommonOptions) =>
      inSession(options, async (session) => {
        const { collectorConfig } = await import("../collector/run-collector.ts");
        const { directoryLock, testOnce } = await import("#collector/start-collector.ts");
        const { selfTestRequest } = await import("#collector/self-test.ts");
        const { labConnection } = await import("../collector/lab-connection.ts");
        const { holderOf } = await import("#machine/holder-lock.ts");
        const { processLogger } = await import("../process-logger.ts");
        const config = await collectorConfig(name, options, program.version, session.api.serverUrl);
        if (holderOf(directoryLock(config.dataDir))) {
          await writeFile(selfTestRequest(config.dataDir), "");
          return answer(session, options, { asked: true }, () => [
            `Collector ${name} is running: it tests itself when it has nothing else to do.`,
          ]);
        }
        const stopping = new AbortController();
        process.once("SIGINT", () => stopping.abort()).once("SIGTERM", () => stopping.abort());
        const { logger, flush } = processLogger(options.logLevel, "collector");
        const lab = labConnection(session.api, name);
        const tested = await testOnce(config, lab, logger, stopping.signal);
        flush();
        if (!tested) return exitCodes.failed;
        answer(session, options, tested, () => [
          `${tested.alarms} alarms in ${tested.comparisons} comparisons: ${tested.passed ? "passed" : "failed"}.`,
          ...(tested.outOfDuty === null ? [] : [`It is out of duty: ${tested.outOfDuty}`]),
        ]);
        return tested.passed ? exitCodes.ok : exitCodes.failed;
      }),
    );
}

function runs(command: Command): Command {
  return speaksToServer(command)
    .option(
      "--data-dir <dir>",
      "where it keeps artifacts, sources and untold results (GRANGE_COLLECTOR_DATA)",
    )
    .option("--artifact-limit <size>", "how much of artifacts it keeps (default: 10GB)", size)
    .option(
      "--refuse-load",
      "never measure while the machine is busy (default: wait 15 minutes, then flag)",
    )
    .option("--flag-load", "measure beside what runs, and say so with each figure")
    .addOption(
      new Option("--sandbox <kind>", "how benchmarks are kept apart").choices([
        "auto",
        "bubblewrap",
        "none",
      ]),
    )
    .option(
      "--any-target",
      "measure also where the machine is not of the target that the collector is registered for",
    )
    .option("--comparisons <n>", "of a self-test (default: 20)", numberFrom(1, 1_000))
    .addOption(logLevel());
}

function changeOf(options: SetOptions): ChangeCollector {
  const contradict = (one: unknown, other: unknown, names: string) => {
    if (one !== undefined && other !== undefined)
      throw new UsageError(`${names} contradict each other`);
  };
  contradict(options.active, options.inactive, "--active and --inactive");
  contradict(options.set, options.allSets, "--set and --all-sets");
  contradict(options.takeOver, options.takeOverNone, "--take-over and --take-over-none");
  contradict(options.outOfDuty, options.inDuty, "--out-of-duty and --in-duty");
  const { active, inactive, set, takeOver, outOfDuty } = options;
  const change = {
    ...(active === true || inactive === true ? { active: active === true } : {}),
    ...(set === undefined ? {} : { set }),
    ...(options.allSets === true ? { set: null } : {}),
    ...(takeOver === undefined ? {} : { mayTakeOver: takeOver.map(setNumber) }),
    ...(options.takeOverNone === true ? { mayTakeOver: [] } : {}),
    ...(outOfDuty === undefined ? {} : { outOfDuty }),
    ...(options.inDuty === true ? { outOfDuty: null } : {}),
  };
  if (Object.keys(change).length === 0) throw new UsageError("name something to change");
  return change;
}

const setNumber = numberFrom(0, 99);

function size(text: string): number {
  const bytes = parseMemorySize(text);
  if (bytes !== undefined && bytes > 0) return bytes;
  throw new InvalidArgumentError('A size is an amount such as "10GB" or "500MiB".');
}

function timeOfDay(text: string): number {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) throw new InvalidArgumentError("A time of day is written as 03:00.");
  return Number(hours) * 60 + Number(minutes);
}
