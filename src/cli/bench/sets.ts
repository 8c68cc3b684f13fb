import { readFile, rename, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { z } from "zod";
import type { SetBalance } from "#api/benchmark-history.ts";
import { messageOf } from "#core/fault.ts";
import { balanceSets } from "#suites/balance-sets.ts";
import type { Suite } from "#suites/suite.ts";
import { writeSets } from "#suites/write-sets.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { numberFrom } from "../whole-number.ts";
import { suiteFile } from "./suite-files.ts";

interface BalanceOptions extends CommonOptions {
  readonly suite?: string;
  readonly target?: string;
  readonly sets?: number;
  readonly durations?: string;
  readonly dryRun?: boolean;
  readonly write?: boolean;
}

/** `grange bench sets balance`. */
export function describeSetCommands(command: Command): void {
  const sets = command.command("sets").description("distribute benchmarks over collectors");

  const balance = speaksToServer(sets.command("balance"))
    .description(
      "propose the fewest moves of benchmarks after which all sets take about the same time",
    )
    .option("--suite <name>", "a suite from .grange/bench/, or a file")
    .option("--target <target>", "the target (default: the only one of the suite)")
    .option("--sets <number>", "the number of sets (default: unchanged)", numberFrom(1, 100))
    .option(
      "--durations <file>",
      'JSON: seconds by benchmark, {"rxjs": 120}, instead of the measurements of the farm',
    )
    .option("--dry-run", "change nothing (default)")
    .option("--write", "write the sets to the file of the suite; push it afterwards")
    .action((options: BalanceOptions) =>
      inSession(options, async (session) => {
        if (options.dryRun === true && options.write === true)
          throw new UsageError("--dry-run and --write contradict each other; give one");
        const { file, suite } = await suiteFile(options.suite);
        const target = targetOf(suite, options.target);
        const { benchmarkSuiteEndpoints } = await import(
          "#api/endpoints/benchmark-suite-endpoints.ts"
        );
        const found =
          options.durations === undefined
            ? await session.api.call(benchmarkSuiteEndpoints.benchmarkSetBalance, {
                query: { suite: suite.suite, target, sets: options.sets },
              })
            : balanceSets(suite, target, await durationsIn(options.durations), options.sets);
        const moves = stillToMove(suite, found);
        if (options.write === true && moves.length > 0) await rewrite(file, moves);
        return answer(session, options, found, () => [
          ...balanceLines(found),
          "",
          closingLine(moves.length, options.write === true ? file : undefined),
        ]);
      }),
    );
  withExamples(balance, [
    ["show the moves, using the measurements of the farm", "bench sets balance --suite typescript"],
    [
      "for a second collector: use your own durations, and write the file",
      "bench sets balance --suite typescript --sets 2 --durations seconds.json --write",
    ],
  ]);
}

function targetOf(suite: Suite, named: string | undefined): string {
  const targets = Object.keys(suite.targets);
  if (named !== undefined && targets.includes(named)) return named;
  const [only, ...others] = targets;
  if (named === undefined && only !== undefined && others.length === 0) return only;
  throw new UsageError(`name a target of the suite with --target: ${targets.join(", ")}`);
}

const Durations = z.record(z.string(), z.number().nonnegative());

async function durationsIn(file: string): Promise<ReadonlyMap<string, number>> {
  try {
    const durations = Durations.parse(JSON.parse(await readFile(file, "utf8")));
    return new Map(Object.entries(durations));
  } catch (cause) {
    throw new UsageError(`${file} is not a map from benchmarks to seconds: ${messageOf(cause)}`);
  }
}

/** The farm's answer is for the pushed definition; the file may have changed since. */
function stillToMove(suite: Suite, { moves }: SetBalance): SetBalance["moves"] {
  const benchmarks = suite.compile?.benchmarks ?? {};
  return moves.filter(
    ({ benchmark, to }) =>
      Object.hasOwn(benchmarks, benchmark) && benchmarks[benchmark]?.set !== to,
  );
}

/** Writes the file completely or not at all. */
async function rewrite(file: string, moves: SetBalance["moves"]): Promise<void> {
  const text = writeSets(await readFile(file, "utf8"), moves);
  const beside = `${file}.${process.pid}.new`;
  await writeFile(beside, text);
  await rename(beside, file);
}

function balanceLines({ sets, moves, unknown }: SetBalance): string[] {
  const rounded = (seconds: number) => `${Math.round(seconds)} s`;
  const lines = tableLines([
    ["set", "now", "then", "benchmarks then"],
    ...sets.map(({ set, secondsBefore, secondsAfter, benchmarks }) => [
      String(set),
      rounded(secondsBefore),
      rounded(secondsAfter),
      printableLine(benchmarks.join(", ") || "-"),
    ]),
  ]);
  for (const { benchmark, from, to } of moves)
    lines.push(`move ${printableLine(benchmark)} from set ${from} to ${to}`);
  if (unknown.length > 0)
    lines.push(`there are no measurements of ${printableLine(unknown.join(", "))}: not moved`);
  return lines;
}

function closingLine(moves: number, written: string | undefined): string {
  if (moves === 0) return "There is nothing to move.";
  if (written === undefined)
    return "Nothing was changed. --write writes the sets to the file of the suite.";
  return `${printableLine(written)} was written. Push it with \`grange bench suite push\`.`;
}
