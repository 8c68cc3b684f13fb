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
      "two collectors that divide the sets, and replace each other",
      "collector add lab-2 --target linux-x64 --set 1 --take-over 0",
    ],
    ["measure until a signal stops it", "collector run lab-1 --token-file ~/.grange-token"],
    ["list collectors and their state", "collector"],
    ["take a collector out of duty for repairs", "collector set lab-2 --out-of-duty 'new fan'"],
    ["check whether a collector reports false changes", "collector self-test lab-1"],
  ]);
};

function describeList(command: Command): void {
  speaksToServer(command.command("list", { isDefault: true }))
    .description("list collectors and their state")
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
    .requiredOption("--target <target>", "the target of its measurements, such as linux-x64")
    .option("--set <n>", "the benchmark set that it measures (default: all)", setNumber)
    .option(
      "--take-over <n>",
      "a set that it measures while the collector of that set is silent; may be repeated",
      repeated,
    )
    .option("--inactive", "inactive: it gets no jobs until it is activated")
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
    .description("change the sets and the state of a collector")
    .option("--active", "activate it")
    .option(
      "--inactive",
      "deactivate it: it gets no jobs, and another collector may take its place",
    )
    .option("--set <n>", "the benchmark set that it measures", setNumber)
    .option("--all-sets", "it measures all sets")
    .option(
      "--take-over <n>",
      "a set that it may take over; replaces the earlier ones; may be repeated",
      repeated,
    )
    .option("--take-over-none", "it takes over no sets")
    .option("--out-of-duty <why>", "take it out of duty: it gets no jobs for now")
    .option("--in-duty", "put it back on duty")
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
    .description("remove a collector that has measured nothing; deactivate any other")
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
    .description("measure on this machine until a signal stops it")
    .option("--no-self-test", "do not compare an artifact with itself when the server asks for it")
    .option(
      "--self-test-at <hh:mm>",
      "also run a self-test each night at this local time",
      timeOfDay,
    )
    .option(
      "--update-command <command>",
      `run by a shell before it ends with ${exitCodes.update} for an update`,
    )
    .option(
      "--enrol <token-or-file>",
      "an enrolment token, which is exchanged once for a token of its own in its data directory (GRANGE_ENROL)",
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
    .description("compare the last measured artifact with itself: each reported change is false")
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
            `Collector ${name} is measuring. It runs the self-test when it is idle.`,
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
      "the directory of artifacts, sources and results that are not sent yet (GRANGE_COLLECTOR_DATA)",
    )
    .option("--artifact-limit <size>", "the disk space for artifacts (default: 10GB)", size)
    .option(
      "--refuse-load",
      "never measure while the machine is busy (default: wait 15 minutes, then measure and mark the figures)",
    )
    .option("--flag-load", "measure while other programs run, and mark each figure")
    .addOption(
      new Option("--sandbox <kind>", "the sandbox of benchmarks").choices([
        "auto",
        "bubblewrap",
        "none",
      ]),
    )
    .option("--any-target", "also measure if the machine is not of the registered target")
    .option(
      "--comparisons <n>",
      "the number of comparisons in a self-test (default: 20)",
      numberFrom(1, 1_000),
    )
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
  if (Object.keys(change).length === 0)
    throw new UsageError("give at least one option that changes something");
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
  if (hours === undefined) throw new InvalidArgumentError("Write a time of day as 03:00.");
  return Number(hours) * 60 + Number(minutes);
}
