import { hostname } from "node:os";
import type { Logger } from "pino";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate, newestKnownMigration } from "#db/migrate.ts";
import { requestedConnection, requireOwnConnections } from "#db/own-connections.ts";
import { openPostgres } from "#db/postgres.ts";
import { connectionName } from "#db/running-servers.store.ts";
import { serverVersion } from "#db/server-version.ts";
import { version as ownVersion } from "./version.ts";

interface Database extends Service {
  readonly db: Db;
  /** For people: `PostgreSQL 18.4, embedded`. */
  readonly description: string;
  /** The time until the database answered with all migrations applied, in milliseconds. */
  readonly openedInMs: number;
}

/** The lowest major version of PostgreSQL that has all features that Grange uses. */
const lowestVersion = 15;

/** Opens the database that the configuration names, or an embedded one; migrates it to this version of the code. */
export async function openDatabase(
  config: { readonly dataDir: string; readonly databaseUrl?: string | undefined },
  logger: Logger,
): Promise<Database> {
  const started = performance.now();
  const knows = await newestKnownMigration();
  const applicationName = connectionName({ host: hostname(), version: ownVersion, knows });
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          onRestart: (why) => logger.warn({ why }, "starting PostgreSQL again"),
          onRecovery: () =>
            logger.warn("PostgreSQL recovers after a crash; the farm answers when that is done"),
        })
      : undefined;
  const db = openPostgres({ url: embedded?.url ?? config.databaseUrl ?? "", applicationName });
  const stop = async () => {
    await db.close();
    await embedded?.stop();
  };
  try {
    const { databaseUrl } = config;
    // Before statements with names, which fail behind a pooler in a way that does not say why.
    if (databaseUrl !== undefined)
      await requireOwnConnections(() => requestedConnection(databaseUrl));
    const version = await serverVersion(db);
    if (version.major < lowestVersion) {
      throw new Fault(
        "failed_precondition",
        `the server at GRANGE_DATABASE_URL is PostgreSQL ${version.text}; Grange needs ${lowestVersion} or later`,
      );
    }
    const ahead = await migrate(db, {
      onWait: (why) => logger.warn(`waiting for servers of an older version: ${why}`),
    });
    if (ahead.length > 0)
      logger.info(
        { migrations: ahead },
        "the database has a newer schema, which works with this version",
      );
    const kind = embedded === undefined ? "by URL" : "embedded";
    const openedInMs = Math.round(performance.now() - started);
    return { db, description: `PostgreSQL ${version.text}, ${kind}`, openedInMs, stop };
  } catch (cause) {
    await stop().catch(() => {});
    throw cause;
  }
}
