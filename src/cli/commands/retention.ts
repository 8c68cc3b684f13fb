import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { type Retention, type RetentionKind, retentionKinds } from "#api/retention.ts";
import { durationText } from "#core/duration-text.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { numberFrom } from "../whole-number.ts";

const dayMs = 24 * 60 * 60_000;

interface PlaceOptions extends CommonOptions {
  readonly repository: string;
  readonly branch: string;
}

interface RuleOptions extends PlaceOptions {
  readonly keep: number | null;
  readonly newest: number;
  readonly most?: number;
}

interface HoldOptions extends CommonOptions {
  readonly label: string;
  readonly why?: string;
}

/** `grange retention`: the stored kinds of data, and how long each is kept. */
export const describeRetention: Describe = (command) => {
  describeShow(command);
  describeRules(command);
  describeAge(command);
  describeHolds(command);
  withExamples(command, [
    ["show what is kept, and for how long", "retention show"],
    ["keep graphs of topic branches for 30 days", 'retention set --branch "topic/*" --keep 30d'],
    ["keep graphs of main forever", "retention set --branch main --keep forever"],
    ["keep the audit log for a year", "retention age audit 365d"],
    ["keep one graph regardless of the rules", "retention hold 0f6a9d0b --label case-17"],
  ]);
};

function describeShow(command: Command): void {
  speaksToServer(command.command("show"))
    .description("show rules, ages and labels")
    .action((options: CommonOptions) => act(options, (call) => call.show()));
}

function describeRules(command: Command): void {
  const place = (part: Command) =>
    speaksToServer(part)
      .option("--repository <name>", "only graphs of this repository", "*")
      .option("--branch <pattern>", "a branch, a pattern with *, or @protected", "*");
  place(command.command("set"))
    .description("set how long graphs are kept after their end")
    .requiredOption("--keep <time>", "how long, such as 90d, or `forever`", keepMs)
    .option(
      "--newest <n>",
      "always keep this many of the newest graphs of each branch",
      numberFrom(0, 100_000),
      0,
    )
    .option(
      "--most <n>",
      "keep at most this many graphs of each branch, the newest",
      numberFrom(1, 1_000_000),
    )
    .action(({ repository, branch, keep, newest, most, ...options }: RuleOptions) =>
      act(options, (call) =>
        call.setRule({ repository, branch, keepMs: keep, keepNewest: newest, most: most ?? null }),
      ),
    );
  place(command.command("remove"))
    .description("remove a rule; graphs without a rule are kept")
    .action(({ repository, branch, ...options }: PlaceOptions) =>
      act(options, (call) => call.removeRule({ repository, branch })),
    );
}

function describeAge(command: Command): void {
  speaksToServer(command.command("age"))
    .description(
      "set how long executions, invocations, entries of the audit log, unused definitions or benchmark jobs are kept",
    )
    .argument("<kind>", retentionKinds.join(", "), retentionKind)
    .argument("<time>", "how long, such as 90d, or `forever`", keepMs)
    .action((kind: RetentionKind, keep: number | null, options: CommonOptions) =>
      act(options, (call) => call.setAge({ kind, keepMs: keep })),
    );
}

function describeHolds(command: Command): void {
  speaksToServer(command.command("hold"))
    .description("give a graph a label that keeps it")
    .argument("<graph>", "the id of the graph, or a unique prefix")
    .requiredOption("--label <label>", "the label, which names the reason")
    .option("--why <text>", "a longer reason")
    .action((graph: string, { label, why, ...options }: HoldOptions) =>
      act(options, (call) => call.hold(graph, { label, why: why ?? null })),
    );
  speaksToServer(command.command("release"))
    .description("remove such a label from a graph")
    .argument("<graph>", "the id of the graph, or a unique prefix")
    .requiredOption("--label <label>", "the label to remove")
    .action((graph: string, { label, ...options }: HoldOptions) =>
      act(options, (call) => call.release(graph, { label })),
    );
}

/** Calls the server, and shows the resulting settings. */
function act(options: CommonOptions, work: (calls: Calls) => Promise<Retention>): Promise<void> {
  return inSession(options, async (session) => {
    const { retentionEndpoints } = await import("#api/endpoints/retention-endpoints.ts");
    const { api } = session;
    const retention = await work({
      show: () => api.call(retentionEndpoints.retention, {}),
      setRule: (body) => api.call(retentionEndpoints.setRetentionRule, { body }),
      removeRule: (body) => api.call(retentionEndpoints.removeRetentionRule, { body }),
      setAge: (body) => api.call(retentionEndpoints.setRetentionAge, { body }),
      hold: (id, body) => api.call(retentionEndpoints.holdGraph, { params: { id }, body }),
      release: (id, body) => api.call(retentionEndpoints.releaseHold, { params: { id }, body }),
    });
    return answer(session, options, retention, () => retentionLines(retention));
  });
}

interface Calls {
  readonly show: () => Promise<Retention>;
  readonly setRule: (rule: {
    readonly repository: string;
    readonly branch: string;
    readonly keepMs: number | null;
    readonly keepNewest: number;
    readonly most: number | null;
  }) => Promise<Retention>;
  readonly removeRule: (place: {
    readonly repository: string;
    readonly branch: string;
  }) => Promise<Retention>;
  readonly setAge: (age: {
    readonly kind: RetentionKind;
    readonly keepMs: number | null;
  }) => Promise<Retention>;
  readonly hold: (
    graph: string,
    hold: { readonly label: string; readonly why: string | null },
  ) => Promise<Retention>;
  readonly release: (graph: string, hold: { readonly label: string }) => Promise<Retention>;
}

function retentionLines({ rules, ages, holds }: Retention): string[] {
  const lines = tableLines([
    ["graphs of", "branch", "kept for", "newest kept", "at most", "set by"],
    ...rules.map(({ repository, branch, keepMs: ms, keepNewest, most, setBy }) => [
      printableLine(repository),
      printableLine(branch),
      keptFor(ms),
      String(keepNewest),
      most === null ? "-" : String(most),
      printableLine(setBy),
    ]),
  ]);
  return [
    ...lines,
    "",
    ...tableLines([
      ["records", "kept for", "set by"],
      ...ages.map(({ kind, keepMs: ms, setBy }) => [
        kind,
        keptFor(ms),
        printableLine(setBy ?? "-"),
      ]),
    ]),
    ...(holds.length === 0
      ? []
      : [
          "",
          ...tableLines([
            ["graph", "label", "why", "set by"],
            ...holds.map(({ graph, label, why, setBy }) => [
              graph,
              label,
              printableLine(why ?? "-"),
              printableLine(setBy),
            ]),
          ]),
        ]),
  ];
}

function keptFor(ms: number | null): string {
  if (ms === null) return "forever";
  return ms % dayMs === 0 ? `${ms / dayMs} d` : durationText(ms);
}

/** Parses a time as in definitions, in ms; null for `forever`. */
function keepMs(text: string): number | null {
  if (text === "forever") return null;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError("It must be a time such as 90d or 12h, or `forever`.");
}

function retentionKind(text: string): RetentionKind {
  const kind = retentionKinds.find((each) => each === text);
  if (kind !== undefined) return kind;
  throw new InvalidArgumentError(`It must be one of ${retentionKinds.join(", ")}.`);
}
