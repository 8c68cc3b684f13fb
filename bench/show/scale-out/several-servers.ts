import type { SeenByClients } from "../../../test/faults/clients-of-servers.ts";
import { failOver } from "../../../test/faults/database-failover.ts";
import { killServers } from "../../../test/faults/kill-servers.ts";
import { rollUpgrade } from "../../../test/faults/rolling-upgrade.ts";
import { bucketServerNeed, startBucketServer } from "../../../test/support/bucket-server.ts";
import { grange } from "../../../test/support/farm.ts";
import { haproxyBalancer, haproxyNeed } from "../../../test/support/haproxy-balancer.ts";
import { laterRelease, newestBuiltMigration } from "../../../test/support/later-release.ts";
import type { TcpBalancer } from "../../../test/support/tcp-balancer.ts";
import { firstOf } from "../recovery/first-violation.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { buildOfEarlierCommit } from "./earlier-build.ts";
import { withDatabaseUrl } from "./with-database-url.ts";

/** Leader work moves to another server within this time. */
const leaderGoalMs = 10_000;
/** A failover takes as long as the manager of failovers, and this. */
const readyGoalMs = 15_000;

export const serversKilled = killing(3, 8);
export const serversKilledBehindHaproxy: Measurement = {
  ...killing(20, 60, haproxyBalancer),
  title: "kill -9 of 20 servers behind HAProxy",
  long: true,
};

function killing(
  kills: number,
  graphs: number,
  openBalancer?: () => Promise<TcpBalancer>,
): Measurement {
  return {
    title: `kill -9 of ${kills} servers behind a load balancer`,
    long: false,
    async measure() {
      requireNeeds([bucketServerNeed, ...(openBalancer === undefined ? [] : [haproxyNeed])]);
      const bucket = await startBucketServer();
      try {
        const seen = await withDatabaseUrl((databaseUrl) =>
          killServers({
            bucket,
            databaseUrl,
            kills,
            graphs,
            ...(openBalancer === undefined ? {} : { openBalancer }),
          }),
        );
        const how =
          `three servers, one bucket, two workers; ${seen.graphs} graphs, ${textOf(seen)} meanwhile; ` +
          `a new server for each killed one${firstOf(seen.violations)}${firstError(seen)}`;
        return [
          exactly(`promises broken by ${kills} kills`, seen.violations.length, 0, "", how),
          exactly("errors that retries do not cure", seen.errors.length, 0, "", how),
          atMost(
            "leader work without a server, after a kill",
            Math.max(...seen.leaderMs),
            leaderGoalMs,
            "ms",
            how,
          ),
        ];
      } finally {
        await bucket.stop();
      }
    },
  };
}

export const upgradesRolled: Measurement = {
  title: "rolling upgrades, forward and back",
  long: false,
  async measure() {
    const newest = await newestBuiltMigration();
    const { program, remove } = await laterRelease({
      "9001_expand.sql": `-- works-with: ${newest}\nalter table graph add column later text;\n`,
    });
    try {
      return await rollingRows({ earlier: grange, later: program, rounds: 1 });
    } finally {
      await remove();
    }
  },
};

export const upgradesFromEarlierCommit: Measurement = {
  title: "rolling upgrades from the build of an earlier commit, and back",
  long: true,
  async measure() {
    const { program, commit, remove } = await buildOfEarlierCommit();
    try {
      const rows = await rollingRows({ earlier: program, later: grange, rounds: 5 });
      return rows.map((row) => ({ ...row, how: `${row.how}; from ${commit.slice(0, 12)}` }));
    } finally {
      await remove();
    }
  },
};

async function rollingRows(releases: {
  readonly earlier: string;
  readonly later: string;
  readonly rounds: number;
}): Promise<Row[]> {
  const seen = await withDatabaseUrl((databaseUrl) =>
    rollUpgrade({ databaseUrl, servers: 2, ...releases }),
  );
  const how =
    `two servers of one release, each replaced by one of the other, ${seen.replaced} in all, SIGTERM with --drain 500ms; ` +
    `${textOf(seen)} meanwhile${firstOf(seen.violations)}${firstError(seen)}`;
  return [
    exactly(`promises broken by ${seen.replaced} replacements`, seen.violations.length, 0, "", how),
    exactly("failed calls beyond retries", seen.errors.length, 0, "", how),
  ];
}

export const databaseFailover: Measurement = {
  title: "failover of the database under load",
  long: false,
  async measure() {
    const { violations, graphs, readyAgainMs } = await failOver({ graphs: 10 });
    const how =
      `${graphs} graphs; the primary killed with -9, its synchronous standby promoted 1 s later; one server names both hosts, ` +
      `one connects through a proxy${firstOf(violations)}`;
    return [
      exactly("promises broken by a failover", violations.length, 0, "", how),
      atMost("from promotion to ready servers", Math.max(...readyAgainMs), readyGoalMs, "ms", how),
    ];
  },
};

function textOf({ actions, uploads, commands }: SeenByClients): string {
  return `${actions} actions, ${uploads} uploads of 4 MiB, ${commands} × grange submit --wait`;
}

function firstError({ errors }: SeenByClients): string {
  return errors[0] === undefined ? "" : `; the first error: ${errors[0]}`;
}
