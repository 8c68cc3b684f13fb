import { InvalidArgumentError, Option } from "commander";
import type { ChooserName } from "#simulate/choosers.ts";
import type { CompareOptions, Comparison } from "#simulate/compare.ts";
import type { Describe } from "../command-list.ts";
import { answersJson, withExamples } from "../common-options.ts";
import { answer, inSession, type Session } from "../session.ts";
import { traceSeed } from "../trace-seed.ts";

interface SimulateOptions {
  readonly trace: string;
  readonly strategy: string;
  readonly seed: number;
  readonly svg?: string;
  readonly priceOfDelay?: number;
  readonly exponent?: number;
  readonly exactClasses?: boolean;
  readonly json?: boolean;
}

export const describeSimulate: Describe = (command) => {
  const sizeClasses = command
    .command("size-classes")
    .description("simulate a trace once with each strategy, and compare cost and delay");
  answersJson(sizeClasses)
    .requiredOption(
      "--trace <file|name>",
      "a file of JSON lines, - for standard input, or the name of a standard trace",
    )
    .option("--strategy <names>", "one or more strategies, separated by commas, or all", "all")
    .addOption(
      new Option("--seed <number>", "the seed of the random numbers")
        .argParser(traceSeed)
        .default(1),
    )
    .option("--svg <file>", "write a chart of the comparison to this file")
    .option("--price-of-delay <x>", "the cost of an hour of waiting, in hours of class 1", amount)
    .option(
      "--exponent <x>",
      "the acceptable increase of durations, as an exponent (adr, pagerank)",
      amount,
    )
    .option("--exact-classes", "larger classes do not run actions of smaller ones (grange, oracle)")
    .action((options: SimulateOptions) =>
      inSession(options, async (session) => {
        const { openTrace } = await import("../open-trace.ts");
        const { compare } = await import("#simulate/compare.ts");
        const names = await strategiesIn(options.strategy);
        const trace = await openTrace(options.trace, options.seed);
        const comparison = compare(trace, names, compareOptions(options));
        if (options.svg !== undefined) await drawInto(options.svg, comparison);
        const { comparisonLines } = await import("../comparison-lines.ts");
        return answer(session, options, comparison, () =>
          linesFor(session, comparison, comparisonLines),
        );
      }),
    );
  withExamples(sizeClasses, [
    ["compare all strategies on a standard trace", "simulate size-classes --trace steady-state"],
    [
      "the cost of last week with other strategies",
      "trace export --since 7d > week.jsonl && grange simulate size-classes --trace week.jsonl --svg week.svg",
    ],
    ["list the standard traces", "trace list"],
  ]);
};

function linesFor(
  { terminal }: Session,
  comparison: Comparison,
  lines: (comparison: Comparison, paint: Session["terminal"]["answer"]["paint"]) => string[],
): string[] {
  return lines(comparison, terminal.answer.paint);
}

function compareOptions(options: SimulateOptions): CompareOptions {
  const { seed, priceOfDelay, exponent, exactClasses } = options;
  return {
    seed,
    settings: {
      ...(priceOfDelay !== undefined && { priceOfDelay }),
      ...(exponent !== undefined && { acceptableIncreaseExponent: Math.min(1, exponent) }),
      ...(exactClasses === true && { greaterMayTake: false }),
    },
  };
}

async function strategiesIn(text: string): Promise<readonly ChooserName[]> {
  const { chooserNames } = await import("#simulate/choosers.ts");
  const { UsageError } = await import("../usage-error.ts");
  if (text === "all") return chooserNames;
  return [...new Set(text.split(","))].map((name) => {
    const known = chooserNames.find((each) => each === name.trim());
    if (known !== undefined) return known;
    throw new UsageError(
      `there is no strategy "${name}"; the strategies are ${chooserNames.join(", ")}`,
    );
  });
}

async function drawInto(file: string, comparison: Comparison): Promise<void> {
  const { writeFile } = await import("node:fs/promises");
  const { comparisonSvg } = await import("#simulate/plots/comparison-svg.ts");
  await writeFile(file, comparisonSvg(comparison));
}

function amount(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1e6) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1000000.");
}
