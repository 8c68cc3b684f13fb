import { severalServers } from "../support/several-servers.ts";
import { type SeenByClients, startClients } from "./clients-of-servers.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { observedLoad } from "./history/observed-load.ts";

/** What clients saw during upgrades. */
interface RolledUpgrades extends SeenByClients {
  readonly violations: readonly Violation[];
  /** Servers that were replaced by one of another release. */
  readonly replaced: number;
}

/**
 * Replaces the servers of a farm one after the other under load: by those of the later release, and back. Meanwhile both
 * releases run on one database, which has the schema of the later one.
 *
 * @param earlier the program of the earlier release
 */
export async function rollUpgrade(options: {
  readonly databaseUrl: string;
  readonly earlier: string;
  readonly later: string;
  readonly rounds: number;
  readonly servers: number;
}): Promise<RolledUpgrades> {
  const { databaseUrl, earlier, later, rounds, servers } = options;
  const farm = await severalServers({ GRANGE_DATABASE_URL: databaseUrl });
  for (let n = 0; n < servers; n++) await farm.startServer({ program: earlier });
  farm.startWorker("one");
  const load = await observedLoad(farm.client);
  const clients = await startClients(farm.client.url);
  let replaced = 0;
  try {
    for (let round = 0; round < rounds; round++)
      for (const program of [later, earlier])
        for (const server of farm.servers.slice()) {
          await farm.startServer({ program });
          if (replaced % servers === 0) await load.submit();
          await farm.endServer(server, "SIGTERM");
          replaced++;
        }
    const sum = await clients.end();
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return { ...sum, violations: checkHistory(load.history), replaced };
  } finally {
    await farm.stop();
    await load.remove();
  }
}
