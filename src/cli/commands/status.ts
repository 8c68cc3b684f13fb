import type { GraphSummary } from "#api/graph.ts";
import { durationText } from "#core/duration-text.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { closingLines } from "../progress/closing-lines.ts";
import { failureLines } from "../progress/failure-lines.ts";
import { viewOf } from "../progress/graph-view.ts";
import { progressBlock } from "../progress/progress-block.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { shortened, tableLines } from "../terminal/table.ts";

interface StatusOptions extends CommonOptions {
  readonly limit: string;
}

export const describeStatus: Describe = (command) => {
  speaksToServer(command)
    .argument("[graph]", "the id of a graph, a unique prefix of it, or `latest`")
    .option("--limit <n>", "the number of graphs to list", "10")
    .action((graph: string | undefined, options: StatusOptions) =>
      inSession(options, (session) =>
        graph === undefined ? listGraphs(session, options) : showGraph(session, graph, options),
      ),
    );
  withExamples(command, [
    ["list the ten newest graphs", "status"],
    ["show the newest graph and its jobs", "status latest"],
    ["the same as JSON, for a script", "status 3f2a --json"],
  ]);
};

async function listGraphs(session: Session, options: StatusOptions) {
  const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
  const graphs = await session.api.call(graphEndpoints.graphs, {
    query: { limit: Number(options.limit) || 10 },
  });
  return answer(session, options, graphs, () =>
    graphs.length === 0
      ? ["There is no graph yet. Submit one: grange submit"]
      : tableLines(graphs.map((graph) => graphRow(graph, session))),
  );
}

function graphRow(graph: GraphSummary, { terminal }: Session): string[] {
  const { paint, columns } = terminal.answer;
  const colour = {
    succeeded: "green",
    failed: "red",
    cancelled: "yellow",
    running: "cyan",
  } as const;
  const done = graph.counts.succeeded ?? 0;
  const end = graph.finishedAt === null ? Date.now() : Date.parse(graph.finishedAt);
  return [
    graph.id.slice(0, 8),
    paint[colour[graph.state]](graph.state),
    `${done}/${graph.jobs}`,
    durationText(end - Date.parse(graph.createdAt) - graph.idleMs),
    graph.commit.slice(0, 10),
    graph.customised === 0 ? "" : paint.yellow("customised"),
    shortened(printableLine(graph.subject), Math.max(20, columns() - 55)),
  ];
}

async function showGraph(session: Session, id: string, options: StatusOptions) {
  const graph = await session.api.graph(id);
  const why = options.json === true ? [] : await failureLines(session.api, graph);
  return answer(session, options, graph, () => {
    const { paint, columns } = session.terminal.answer;
    const now = new Date();
    const view = viewOf(graph);
    const space = { columns: columns(), rows: Number.POSITIVE_INFINITY, paint };
    const end = graph.finishedAt === null ? now.getTime() : Date.parse(graph.finishedAt);
    return [
      `${paint.bold(graph.commit.slice(0, 10))} ${printableLine(graph.subject)}`,
      `${graph.repository}, graph ${graph.id}`,
      paint.dim(
        `definitions ${(graph.templates ?? graph.catalog).slice(0, 10)}, jobs ${graph.catalog.slice(0, 10)}`,
      ),
      ...progressBlock(view, now, space).slice(0, -1),
      ...why,
      ...closingLines(view, end - Date.parse(graph.createdAt) - graph.idleMs, paint),
    ];
  });
}
