import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import type { BucketServer } from "../support/bucket-server.ts";
import { severalServers } from "../support/several-servers.ts";
import type { TcpBalancer } from "../support/tcp-balancer.ts";
import { type SeenByClients, startClients } from "./clients-of-servers.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { observedLoad } from "./history/observed-load.ts";

/** What clients of a farm with several servers saw while servers were killed. */
interface KilledServers extends SeenByClients {
  readonly violations: readonly Violation[];
  readonly graphs: number;
  /** How long leader work was without a server, for each kill of the leader, in ms. */
  readonly leaderMs: readonly number[];
}

/**
 * Runs three servers with one database and one bucket behind a balancer, and kills them one after the other with
 * SIGKILL while build tools, uploads, graphs and commands are in progress. A new server takes the place of each.
 */
export async function killServers(options: {
  readonly bucket: BucketServer;
  readonly databaseUrl: string;
  readonly kills: number;
  readonly graphs: number;
  /** Usually one of this process. */
  readonly openBalancer?: () => Promise<TcpBalancer>;
}): Promise<KilledServers> {
  const { bucket, databaseUrl, kills } = options;
  const farm = await severalServers(
    {
      GRANGE_DATABASE_URL: databaseUrl,
      GRANGE_STORE: `s3://${bucket.bucket}/${randomUUID()}`,
      GRANGE_STORE_ENDPOINT: bucket.endpoint.href,
      AWS_ACCESS_KEY_ID: bucket.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    },
    options.openBalancer,
  );
  // The first server becomes the leader, because it starts alone.
  await farm.startServer();
  await Promise.all([farm.startServer(), farm.startServer()]);
  for (const name of ["one", "two"]) farm.startWorker(name);
  const load = await observedLoad(farm.client);
  const clients = await startClients(farm.client.url);
  try {
    const submitting = load.submitMany(options.graphs);
    const leaderMs: number[] = [];
    for (let count = 0; count < kills; count++) {
      // A random moment: an upload or an execution is always in progress.
      await delay(500 + Math.random() * 500);
      const [first] = farm.servers;
      if (first === undefined) throw new Error("no server runs");
      const moved = leaderMoves(databaseUrl);
      await farm.endServer(first, "SIGKILL");
      // Only the first server is known to lead.
      if (count === 0) leaderMs.push(await moved);
      await farm.startServer();
    }
    await submitting;
    const sum = await clients.end();
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      ...sum,
      violations: checkHistory(load.history),
      graphs: load.graphs.length,
      leaderMs,
    };
  } finally {
    await farm.stop();
    await load.remove();
  }
}

/** Resolves when another server than now leads the benchmark lab, with the time in ms. */
async function leaderMoves(databaseUrl: string): Promise<number> {
  const db = openPostgres({ url: databaseUrl, poolSize: 1 });
  const leader = async () => {
    const Row = z.object({ holder: z.string() });
    return (await db.many(Row, sql`select holder from benchmark_leader`))[0]?.holder;
  };
  try {
    const before = await leader();
    const begun = performance.now();
    while ((await leader()) === before) await delay(50);
    return performance.now() - begun;
  } finally {
    await db.close();
  }
}
