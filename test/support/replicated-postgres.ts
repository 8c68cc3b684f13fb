import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { chooseRunAs } from "#db/embedded/run-as.ts";
import { freePort } from "./free-port.ts";
import {
  databaseOnPort,
  endPostgresOnPort,
  queryOnPort,
  startPostgresOnPort,
  userOnPort,
} from "./postgres-on-port.ts";
import { copyCluster, copyFiles } from "./prepared-cluster.ts";

/** A primary and a standby that gets its log. */
interface ReplicatedPostgres {
  /** Names both servers, as libpq does. */
  readonly url: string;
  /** The addresses of the two, the primary first. */
  readonly addresses: readonly [string, string];
  killPrimary(): Promise<void>;
  killStandby(): Promise<void>;
  /** The standby gets the log, and applies nothing of it until `resumeReplay`. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Makes the standby the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a primary with a standby on two ports of the loopback address. Each commit waits until the standby has it,
 * unless `isSynchronous` is false.
 */
export async function startReplicatedPostgres({
  isSynchronous = true,
} = {}): Promise<ReplicatedPostgres> {
  const top = await mkdtemp(join(tmpdir(), "grange-replicated-"));
  const [one, two] = [join(top, "one"), join(top, "two")];
  const [first, second] = [await freePort(), await freePort()];
  const started: ChildProcess[] = [];
  const start = async (
    dataDir: string,
    port: number,
    settings: Readonly<Record<string, string>>,
  ) => {
    const server = await startPostgresOnPort(join(dataDir, "pgdata"), port, {
      wal_level: "replica",
      max_wal_senders: "4",
      hot_standby: "on",
      ...settings,
    });
    started.push(server);
    return server;
  };

  await copyCluster(one);
  if (!existsSync(join(one, "pgdata")))
    await (await startEmbeddedPostgres({ dataDir: one })).stop();
  // The log of the prepared cluster is without what a standby needs, so the standby begins with what comes after it.
  await endPostgresOnPort(await start(one, first, {}), "SIGINT");
  await copyFiles(one, two);
  const signal = join(two, "pgdata", "standby.signal");
  await writeFile(signal, "");
  const { owner } = chooseRunAs();
  if (owner !== undefined) await chown(signal, owner.uid, owner.gid);
  const primary = await start(one, first, { synchronous_standby_names: isSynchronous ? "*" : "" });
  const standby = await start(two, second, {
    primary_conninfo: `host=127.0.0.1 port=${first} user=${userOnPort} application_name=two`,
  });
  await untilReplicated(first);
  const askStandby = async (text: string) => void (await queryOnPort(second, text));

  return {
    url: `postgres://${userOnPort}@127.0.0.1:${first},127.0.0.1:${second}/${databaseOnPort}?target_session_attrs=read-write`,
    addresses: [`127.0.0.1:${first}`, `127.0.0.1:${second}`],
    killPrimary: () => endPostgresOnPort(primary, "SIGKILL"),
    killStandby: () => endPostgresOnPort(standby, "SIGKILL"),
    pauseReplay: () => askStandby("select pg_wal_replay_pause()"),
    resumeReplay: () => askStandby("select pg_wal_replay_resume()"),
    promote: () => askStandby("select pg_promote()"),
    async stop() {
      await Promise.all(started.map((server) => endPostgresOnPort(server, "SIGINT")));
      await rm(top, { recursive: true, force: true });
    },
  };
}

async function untilReplicated(port: number): Promise<void> {
  const streaming = "select from pg_stat_replication where state = 'streaming'";
  while ((await queryOnPort(port, streaming)) === 0) await delay(20);
}
