import type { Db } from "#db/db.ts";
import type { BuildEvent } from "#proto/google/devtools/build/v1/build_events_pb.ts";
import { buildDetail } from "./build-detail.ts";
import { printedLog } from "./build-log.store.ts";
import { type BuildTeller, keepBuildEvents } from "./keep-build-events.ts";
import { readBuildEvent } from "./read-build-event.ts";

/** Events in the form in which the service passes them on. */
export const numbered = (events: readonly BuildEvent[], from = 1) =>
  events.map((event, index) => ({ sequence: from + index, news: readBuildEvent(event) }));

/** Helpers that send builds to a database, each from its own sender, and read the stored data. */
export function tellingTo(db: Db) {
  let count = 0;
  return {
    teller: (project = "default"): BuildTeller => {
      count += 1;
      const [invocation, buildId] = [`invocation-${count}`, `build-${count}`];
      return { project, invocation, buildId, principal: "ada" };
    },
    tell: async (who: BuildTeller, events: readonly BuildEvent[], from = 1): Promise<void> => {
      const kept = await keepBuildEvents(db, who, numbered(events, from), new Date());
      if (kept !== events.length) throw new Error(`only ${kept} of ${events.length} were kept`);
    },
    detailOf: async ({ project, invocation }: BuildTeller) => {
      const detail = await buildDetail(db, project, invocation);
      if (detail === undefined) throw new Error(`there is no build ${invocation}`);
      return detail;
    },
    logOf: async ({ project, invocation }: BuildTeller): Promise<string> => {
      return Buffer.from((await printedLog(db, project, invocation, 0, 1e6)).bytes).toString();
    },
  };
}
