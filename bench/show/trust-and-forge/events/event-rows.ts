import { atMost, exactly, forInformation, type Row } from "../../row.ts";
import type { Lived, Plan } from "./live-through.ts";
import { policies } from "./watched-place.ts";
import { writtenTwice } from "./written-twice.ts";

/** As many errors as fit into a line of a table. */
const mostShown = 5;

export function eventRows(lived: Lived, plan: Plan): Row[] {
  const { events, seed } = plan;
  const { effects, killed, wrong } = lived;
  const how =
    `${events} drawn events (seed ${seed}) in ${Object.keys(policies).length} repositories at a GitHub of our own that loses 30 % of webhooks, ` +
    `doubles 10 % and holds back 15 %, and fails some 15 % of requests, of the writes half after they were done; ${killed} times SIGKILL of the server`;
  const none = (name: string, broken: readonly string[], more = "") =>
    exactly(
      `events: ${name}`,
      broken.length,
      0,
      "",
      broken.length === 0 ? `${how}${more}` : broken.slice(0, mostShown).join("; "),
    );
  const happened = [...effects.values()].reduce((sum, each) => sum + each, 0);
  return [
    exactly("events: that happened", happened, events, "", how),
    exactly("events: kills of the server", killed, plan.kills, "", how),
    none(
      "where the farm knows other than a full poll",
      wrong.state,
      "; its API against Git's refs",
    ),
    none("approvals that are not as people gave them", wrong.approvals),
    none("heads without exactly the one graph that is wanted", wrong.graphs),
    none("graphs that still run", wrong.leftRunning),
    none("commits without exactly one check run of a name, that tells the truth", wrong.checks),
    none("pull requests without exactly one report, where there is to be one", wrong.reports),
    none("comments without exactly the one answer that is due", wrong.answers),
    none(
      "webhooks worked on twice with effect",
      wrong.workedTwice,
      "; graphs made anew, or of nothing",
    ),
    none("things that were not shown", wrong.unsent),
    settled(lived, plan),
    ...information(lived, how),
  ];
}

function settled({ settledMs }: Lived, { waitLimitMs }: Plan): Row {
  return atMost(
    "events: until all is so, from the end of the faults",
    (settledMs ?? Number.POSITIVE_INFINITY) / 1_000,
    waitLimitMs / 1_000,
    "s",
    "looked at every 2 s; what a server that died may have written twice is looked for after two minutes",
  );
}

function information({ eventsMs, told, world }: Lived, how: string): Row[] {
  const { github, places } = world;
  const { made, lost, doubled, taken } = github.webhookCounts();
  const doubles = writtenTwice(github.ledger);
  const checks = places.reduce((sum, { repository }) => sum + repository.checks().length, 0);
  const hooks = `${lost} lost, ${doubled} doubled, ${taken} taken; the rest hit a server that was dead`;
  const ledger = "by the ledger of all that was written at the forge";
  return [
    forInformation("events: how long they took", eventsMs / 1_000, "s", how),
    forInformation("events: webhooks", made, "", hooks),
    forInformation("events: graphs made", told.graphs.length, "", how),
    forInformation("events: check runs", checks, "", how),
    forInformation(
      "events: measurements asked for in comments",
      told.requestedBenchmarks.length,
      "",
      "by one collector, beside those of heads and tags; each is told in the report comment",
    ),
    forInformation("events: comments that asked for something", told.commands.length, "", how),
    forInformation(
      "events: comments written twice",
      doubles.comments,
      "",
      `${ledger}; deleted again`,
    ),
    forInformation("events: check runs written twice", doubles.checks, "", ledger),
  ];
}
