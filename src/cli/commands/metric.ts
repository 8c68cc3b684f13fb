import { type Command, Option } from "commander";
import { MetricMeasure, type MetricValue, type SetMetric, TimesGrouping } from "#api/times.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { durationMs } from "../duration-ms.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

interface SetOptions extends CommonOptions {
  readonly measure?: MetricMeasure;
  /** ms */
  readonly within?: number;
  readonly goal?: string;
  readonly percentile?: string;
  readonly by?: TimesGrouping;
  readonly select?: string;
  /** ms */
  readonly window?: number;
  readonly record?: boolean;
}

export const describeMetric: Describe = (command) => {
  addList(command);
  addSet(command);
  addRecord(command);
  withExamples(command, [
    ["list all metrics, and the metric of record", "metric list"],
    [
      "the share of jobs that start within 15 minutes, with a goal of 95 %",
      "metric set waiting --measure wait --within 15m --goal 95",
    ],
    [
      "the 90th percentile of the duration of graphs, as the metric of record",
      "metric set end --measure end-to-end --percentile 90 --record",
    ],
    ["choose another metric of record", "metric record waiting"],
  ]);
};

function addList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list all metrics with their values")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { timesEndpoints } = await import("#api/endpoints/times-endpoints.ts");
        const known = await session.api.call(timesEndpoints.metrics, {});
        const found = await Promise.all(
          known.map(({ name }) => session.api.call(timesEndpoints.metric, { params: { name } })),
        );
        return answer(session, options, found, () => tableLines(found.map(metricRow)));
      }),
    );
}

function addSet(command: Command): void {
  speaksToServer(command.command("set <name>"))
    .description("set what a metric measures; this also changes its past values")
    .addOption(
      new Option("--measure <what>", "the measure (default: the current one, else wait)").choices(
        MetricMeasure.options,
      ),
    )
    .option("--within <duration>", "the metric is the share of runs within this time", durationMs)
    .option("--goal <percent>", "the goal of a share in percent, such as 95")
    .option("--percentile <n>", "the metric is this percentile")
    .addOption(
      new Option("--by <what>", "also show it by branch, pool or kind").choices(
        TimesGrouping.options,
      ),
    )
    .option("--select <selection>", "only runs of these jobs")
    .option("--window <duration>", "the period before now that counts, from 1m to 366d", durationMs)
    .option("--record", "make it the metric of record, the main metric of the farm")
    .action((name: string, options: SetOptions) =>
      inSession(options, async (session) => {
        const { timesEndpoints } = await import("#api/endpoints/times-endpoints.ts");
        const known = (await session.api.call(timesEndpoints.metrics, {})).find(
          (metric) => metric.name === name,
        );
        const value = await session.api.call(timesEndpoints.setMetric, {
          params: { name },
          body: metricOf(options, known),
        });
        return answer(session, options, value, () => tableLines([metricRow(value)]));
      }),
    );
}

function addRecord(command: Command): void {
  speaksToServer(command.command("record <name>"))
    .description("make a metric the metric of record, the main metric of the farm")
    .action((name: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const { timesEndpoints } = await import("#api/endpoints/times-endpoints.ts");
        const known = settingsOf(
          (await session.api.call(timesEndpoints.metric, { params: { name } })).metric,
        );
        const value = await session.api.call(timesEndpoints.setMetric, {
          params: { name },
          body: { ...known, ofRecord: true },
        });
        return answer(session, options, value, () => [
          `${printableLine(name)} is the metric of record.`,
        ]);
      }),
    );
}

/** Returns a metric by the options; missing ones keep their values. */
export function metricOf(options: SetOptions, before: SetMetric | undefined): SetMetric {
  const known = before && settingsOf(before);
  const { within, goal, percentile } = options;
  if (percentile !== undefined && (within !== undefined || goal !== undefined)) {
    throw new UsageError("--percentile and --within exclude each other");
  }
  const figure = figureOf(options, known?.figure);
  if (figure === undefined) {
    throw new UsageError("choose the figure of the metric: --within DURATION, or --percentile N");
  }
  return {
    ...known,
    measure: options.measure ?? known?.measure ?? "wait",
    figure,
    ...(options.by === undefined ? {} : { group: options.by }),
    ...(options.select === undefined ? {} : { filter: options.select }),
    ...(options.window === undefined ? {} : { windowSeconds: Math.round(options.window / 1_000) }),
    ofRecord: options.record === true || known?.ofRecord === true,
  };
}

/** The settings without the name, which is in the address. */
function settingsOf({ measure, figure, group, filter, windowSeconds, ofRecord }: SetMetric) {
  return { measure, figure, group, filter, windowSeconds, ofRecord };
}

function figureOf(
  { within, goal, percentile }: SetOptions,
  known: SetMetric["figure"] | undefined,
): SetMetric["figure"] | undefined {
  if (percentile !== undefined) {
    return { kind: "percentile", percentile: numberOf("--percentile", percentile) };
  }
  const withinSeconds =
    within === undefined
      ? known?.kind === "share"
        ? known.withinSeconds
        : undefined
      : within / 1_000;
  if (within === undefined && goal === undefined) return known;
  if (withinSeconds === undefined) throw new UsageError("--goal needs a share: add --within");
  const kept = known?.kind === "share" ? known.goal : null;
  return {
    kind: "share",
    withinSeconds,
    goal: goal === undefined ? kept : numberOf("--goal", goal) / 100,
  };
}

function numberOf(option: string, text: string): number {
  const number = Number(text.replace(/\s*%$/, ""));
  if (text.trim() !== "" && number >= 0 && number <= 100) return number;
  throw new UsageError(`${option} takes a number from 0 to 100, not "${text}"`);
}

function metricRow({ metric, value, count, goalMet }: MetricValue): string[] {
  const { figure } = metric;
  const isShare = figure.kind === "share";
  const text =
    value === null ? "–" : isShare ? `${(value * 100).toFixed(1)} %` : durationText(value);
  return [
    printableLine(metric.name),
    metric.measure,
    isShare
      ? `within ${durationText(figure.withinSeconds * 1_000)}`
      : `percentile ${figure.percentile}`,
    text,
    goalMet === null ? "" : goalMet ? "goal met" : "goal not met",
    `of ${count}`,
    metric.ofRecord ? "metric of record" : "",
  ];
}
