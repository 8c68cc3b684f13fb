import { setTimeout as delay } from "node:timers/promises";
import { memorySizeText } from "#core/memory-size.ts";
import { openPostgres } from "#db/postgres.ts";
import type { SeenReplica } from "#db/read-replicas.ts";
import { openReadReplicas } from "#server/open-read-replicas.ts";
import { processLogger } from "../process-logger.ts";
import { type Check, type Finding, ok, warn } from "./check.ts";

/** Pages accept answers that are this old; a replica that is further behind is not used for them. */
const mostBehindMs = 5_000;
const lookEveryMs = 500;

/** Checks the replicas in GRANGE_DATABASE_READ_URL. Without them the farm works, so no finding is a failure. */
export function readReplicaCheck(databaseUrl: string, databaseReadUrl: string): Check {
  return {
    name: "read replicas",
    needs: "With GRANGE_DATABASE_READ_URL: the replicas answer, and are at most 5 s behind",
    fix: "Start the standbys, and compare their network and disks with those of the primary. Meanwhile the primary answers",
    async run() {
      const primary = openPostgres({
        url: databaseUrl,
        poolSize: 1,
        applicationName: "grange doctor",
      });
      const replicas = openReadReplicas(
        { databaseReadUrl },
        primary,
        processLogger("silent", "check").logger,
      );
      try {
        // A position of the primary's log is read first, and a replica needs a moment to replay it.
        const endsAt = performance.now() + mostBehindMs;
        let seen = await replicas.look(mostBehindMs);
        while (performance.now() < endsAt && seen.some(isBehind)) {
          await delay(lookEveryMs);
          seen = await replicas.look(mostBehindMs);
        }
        return judgeReplicas(seen);
      } finally {
        await replicas.stop();
        await primary.close();
      }
    },
  };
}

function isBehind({ standing }: SeenReplica): boolean {
  return standing.kind === "replaying" && standing.hasAllUntilMs === undefined;
}

export function judgeReplicas(seen: readonly SeenReplica[]): Finding {
  const texts = seen.map(({ place, standing }) => {
    switch (standing.kind) {
      case "unchecked":
        return `${place} was not checked, because the primary does not answer`;
      case "unusable":
        return `${place}: ${standing.problem}`;
      case "replaying":
        return `${place} is ${memorySizeText(standing.lagBytes)} behind`;
    }
  });
  const isWell = seen.every((each) => each.standing.kind === "replaying" && !isBehind(each));
  return isWell ? ok(texts.join("; ")) : warn(texts.join("; "));
}
