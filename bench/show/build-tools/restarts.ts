import { type Bazel, bazelNeed, startBazel } from "../../../test/build-tools/bazel.ts";
import { haproxyBalancer, haproxyNeed } from "../../../test/support/haproxy-balancer.ts";
import { severalServers } from "../../../test/support/several-servers.ts";
import {
  bazelOverRestarts,
  failureOfBuild,
  leaves,
  restartsWorkspace,
} from "../defects/bazel-over-restarts.ts";
import { requireNeeds } from "../require-needs.ts";
import type { Measurement, Row } from "../row.ts";
import { withDatabaseUrl } from "../scale-out/with-database-url.ts";

const rounds = 5;

/** Builds of Bazel with its default retries, while servers are killed. */
export const restarts: Measurement = {
  title: "builds over kills of servers",
  long: false,
  measure: async () => [...(await bazelOverRestarts()), ...(await bazelOverServers())],
};

/** Kills one of two servers behind HAProxy in each build; another one takes its place. */
async function bazelOverServers(): Promise<Row[]> {
  requireNeeds([bazelNeed, haproxyNeed]);
  const failures = await withDatabaseUrl(async (url) => {
    const [farm, workspace] = await Promise.all([
      severalServers({ GRANGE_DATABASE_URL: url }, haproxyBalancer),
      restartsWorkspace(),
    ]);
    let bazel: Bazel | undefined;
    const seen: string[] = [];
    try {
      for (let count = 0; count < 2; count++) await farm.startServer();
      for (const name of ["one", "two"]) farm.startWorker(name);
      bazel = await startBazel(workspace.path);
      await bazel.run("build", "--nobuild", "//restarts:root");
      for (let round = 0; round < rounds; round++) {
        await workspace.write("restarts/round.txt", `${round}\n`);
        const failure = await failureOfBuild(bazel, farm.client.url, async () => {
          const [first] = farm.servers;
          if (first === undefined) throw new Error("no server runs");
          await farm.endServer(first, "SIGKILL");
          await farm.startServer();
        });
        if (failure !== undefined) seen.push(failure);
      }
      return seen;
    } finally {
      await bazel?.close();
      await farm.stop();
      await workspace.remove();
    }
  });
  return [
    {
      name: "Bazel builds with default retries that outlive kill -9 of one of two servers behind HAProxy",
      figure: `${rounds - failures.length} of ${rounds}`,
      unit: "builds",
      goal: "all",
      holds: failures.length === 0,
      how: [`${leaves} actions of 0.4 s each, killed after a third`, ...failures].join("; "),
    },
  ];
}
