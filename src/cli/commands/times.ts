import { Option } from "commander";
import type { Durations, GroupTimes, MetricValue, Times, TimesGrouping } from "#api/times.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";

interface TimesOptions extends CommonOptions {
  readonly repo?: string;
  readonly branch?: string;
  readonly by: TimesGrouping;
  readonly window: string;
}

export const describeTimes: Describe = (command) => {
  speaksToServer(command)
    .option("--repo <name>", "only graphs of this repository")
    .option("--branch <name>", "only graphs of this branch")
    .addOption(
      new Option("--by <what>", "the grouping of the table")
        .choices(["branch", "pool", "kind"])
        .default("branch"),
    )
    .option("--window <duration>", "the period before now", "7d")
    .action((options: TimesOptions) =>
      inSession(options, async (session) => {
        const { timesEndpoints } = await import("#api/endpoints/times-endpoints.ts");
        const { repo: repository, branch, by: group, window } = options;
        const found = await session.api.call(timesEndpoints.times, {
          query: { repository, branch, group, window },
        });
        return answer(session, options, found, () => linesOf(found, session));
      }),
    );
  withExamples(command, [
    ["waiting times of the last week, by branch", "times"],
    ["find missing workers: waiting times by pool", "times --by pool --window 1d"],
    ["percentiles of one branch, for a script", "times --branch main --json"],
  ]);
};

function linesOf(found: Times, { terminal }: Session): string[] {
  if (found.all.wait.count === 0)
    return ["No job waited or ran in this period. Try a longer --window."];
  const { paint } = terminal.answer;
  const { graphs, goal, record } = found;
  const goalHead = `in ${durationText(goal.withinSeconds * 1_000)}`;
  return [
    ...tableLines([
      [found.group, "waits", "runs", "wait 50 %", "95 %", "longest", goalHead, "run 50 %", "95 %"],
      ...found.groups.map((group) => row(group.name === "" ? "(none)" : group.name, group)),
      row(paint.bold("all"), found.all),
    ]),
    "",
    `Graphs: ${graphs.endToEnd.count}. From start to end ${halfAndMost(graphs.endToEnd)}, ` +
      `of it on the critical path ${halfAndMost(graphs.criticalPath)}.`,
    ...(graphs.firstFailure.count === 0
      ? []
      : [`First failure after ${halfAndMost(graphs.firstFailure)}.`]),
    ...(record === null ? [] : [recordLine(record, paint)]),
  ];
}

function row(name: string, { wait, run, withinGoal }: GroupTimes): string[] {
  return [
    printableLine(name),
    String(wait.count),
    String(run.count),
    text(wait.p50Ms),
    text(wait.p95Ms),
    text(wait.maxMs),
    withinGoal === null ? "" : percent(withinGoal),
    text(run.p50Ms),
    text(run.p95Ms),
  ];
}

function recordLine(
  { metric, value, goalMet }: MetricValue,
  paint: Session["terminal"]["answer"]["paint"],
): string {
  const { figure } = metric;
  const figureText =
    value === null ? "nothing yet" : figure.kind === "share" ? percent(value) : durationText(value);
  const colour = goalMet === null ? "bold" : goalMet ? "green" : "red";
  const goal =
    figure.kind === "share" && figure.goal !== null
      ? ` within ${durationText(figure.withinSeconds * 1_000)}, goal ${percent(figure.goal)}`
      : "";
  return `Metric of record, ${metric.name}: ${paint[colour](figureText)}${goal}.`;
}

function halfAndMost({ p50Ms, p95Ms }: Durations): string {
  return `${text(p50Ms)} (95 %: ${text(p95Ms)})`;
}

function text(ms: number | null): string {
  return ms === null ? "–" : durationText(ms);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
