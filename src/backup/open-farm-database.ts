import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { takeLock } from "#machine/holder-lock.ts";

interface FarmDatabase extends Service {
  readonly url: string;
}

/**
 * Opens the database of a farm for a backup: the one that the URL names, that of the server that runs in the data
 * directory, or, if none runs, the embedded PostgreSQL, which is started for this and reserved until `stop`.
 *
 * @throws Fault `failed_precondition` when a server runs whose PostgreSQL cannot be reached from here
 */
export async function openFarmDatabase(
  dataDir: string,
  databaseUrl: string | undefined,
): Promise<FarmDatabase> {
  if (databaseUrl !== undefined) return { url: databaseUrl, stop: async () => {} };
  if (!existsSync(join(dataDir, "pgdata", "PG_VERSION"))) {
    throw new Fault(
      "failed_precondition",
      `${dataDir} contains no database of a farm. Name the data directory of the farm with --data, ` +
        "or its database with --database",
    );
  }
  const taken = await takeLock(join(dataDir, "server.lock"), "grange backup");
  if ("holder" in taken) return { url: await urlOfRunning(dataDir), stop: async () => {} };
  const { lock } = taken;
  try {
    const embedded = await startEmbeddedPostgres({ dataDir });
    return {
      url: embedded.url,
      async stop() {
        await embedded.stop();
        await lock.release();
      },
    };
  } catch (cause) {
    await lock.release();
    throw cause;
  }
}

/**
 * Returns the address of the PostgreSQL that a running server has started.
 *
 * Its socket is in the temporary directory of the server's process, which systemd may hide from others (`PrivateTmp`):
 * then it is reached through /proc, which root and the server's user may.
 */
async function urlOfRunning(dataDir: string): Promise<string> {
  const lines = (
    await readFile(join(dataDir, "pgdata", "postmaster.pid"), "utf8").catch(() => "")
  ).split("\n");
  const [pid, socketDir] = [Number.parseInt(lines[0] ?? "", 10), lines[4] ?? ""];
  const port = lines[3] ?? "5432";
  const places = [socketDir, join("/proc", String(pid), "root", socketDir)];
  const place = places.find((each) => existsSync(join(each, `.s.PGSQL.${port}`)));
  if (socketDir !== "" && place !== undefined)
    return `postgres:///postgres?host=${encodeURIComponent(place)}&port=${port}&user=grange`;
  throw new Fault(
    "failed_precondition",
    `a server works in ${dataDir}, but its PostgreSQL cannot be reached: it is starting, or in another container. Run the command on the machine of the server ` +
      "and in its container, as root or as the server's user",
  );
}
