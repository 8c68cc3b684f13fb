import { setTimeout as delay } from "node:timers/promises";
import { startReplicatedPostgres } from "../support/replicated-postgres.ts";
import { severalServers } from "../support/several-servers.ts";
import { tcpBalancer } from "../support/tcp-balancer.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { observedLoad, untilAnswered } from "./history/observed-load.ts";

/** What clients saw when the primary of the database was replaced by its standby. */
interface FailedOver {
  readonly violations: readonly Violation[];
  readonly graphs: number;
  /** From the promotion until each server was ready, in ms: the first names both hosts, the second has a proxy. */
  readonly readyAgainMs: readonly number[];
}

/** How long the database has no primary: less than an operator or a manager of failovers takes. */
const withoutPrimaryMs = 1_000;

/**
 * Kills the primary of a database under load and promotes its synchronous standby. One server has the addresses of both
 * in GRANGE_DATABASE_URL; the other connects to one address, behind which the primary changes.
 */
export async function failOver(options: { readonly graphs: number }): Promise<FailedOver> {
  const database = await startReplicatedPostgres();
  const [first, second] = database.addresses.map((address) => `http://${address}`);
  const proxy = await tcpBalancer();
  proxy.add(first ?? "");
  const behindProxy = `postgres://grange@${new URL(proxy.url).host}/postgres`;
  const farm = await severalServers({ GRANGE_DATABASE_URL: database.url });
  try {
    const servers = [
      await farm.startServer(),
      await farm.startServer({ env: { GRANGE_DATABASE_URL: behindProxy } }),
    ];
    farm.startWorker("one");
    const load = await observedLoad(farm.client);
    try {
      const submitting = load.submitMany(options.graphs);
      while (load.graphs.length < options.graphs / 2) await delay(20);
      await database.killPrimary();
      proxy.remove(first ?? "");
      await delay(withoutPrimaryMs);
      const begun = performance.now();
      await database.promote();
      proxy.add(second ?? "");
      const readyAgainMs = await Promise.all(
        servers.map(async ({ url }) => {
          await untilAnswered(() => requireReady(url));
          return performance.now() - begun;
        }),
      );
      await submitting;
      for (const { id } of load.graphs) await load.readToItsEnd(id);
      return {
        violations: checkHistory(load.history),
        graphs: load.graphs.length,
        readyAgainMs,
      };
    } finally {
      await load.remove();
    }
  } finally {
    await farm.stop();
    await proxy.close();
    await database.stop();
  }
}

async function requireReady(url: string): Promise<void> {
  const { ok, status } = await fetch(`${url}/readyz`);
  if (!ok) throw new Error(`/readyz was answered ${status}`);
}
