import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { messageOf } from "#core/fault.ts";
import { connectionTarget } from "#db/connection-target.ts";
import { type DatabaseState, readDatabaseState } from "#db/database-state.store.ts";
import { findBinaries } from "#db/embedded/binaries.ts";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { chooseRunAs } from "#db/embedded/run-as.ts";
import { openPostgres } from "#db/postgres.ts";
import { outputOf } from "../run-program.ts";
import { type Check, type Finding, fail, ok } from "./check.ts";
import {
  judgeConnections,
  judgeDurability,
  judgeReplication,
  judgeRights,
  judgeRole,
} from "./judge-database.ts";
import { ownConnectionsCheck } from "./own-connections-check.ts";
import { readReplicaCheck } from "./read-replicas.ts";

const oldestServer = 15;

/** Checks the database: the embedded one, or the one in GRANGE_DATABASE_URL with its replicas. */
export function databaseChecks(url: string | undefined, readUrl: string | undefined): Check[] {
  if (url === undefined) return embeddedChecks();
  const replicas = readUrl === undefined ? [] : [readReplicaCheck(url, readUrl)];
  return [externalCheck(url), ownConnectionsCheck(url), ...stateChecks(url), ...replicas];
}

function embeddedChecks(): Check[] {
  const fix = `Run \`npm ci\`, or name a server of version ${oldestServer} or later in GRANGE_DATABASE_URL`;
  return [
    {
      name: "PostgreSQL from npm",
      needs: "The programs of PostgreSQL are installed from npm",
      fix,
      async run() {
        try {
          const { postgres } = await findBinaries();
          return ok((await outputOf(postgres, ["--version"])).trim());
        } catch (reason) {
          return fail(messageOf(reason));
        }
      },
    },
    {
      name: "PostgreSQL starts",
      needs: "PostgreSQL starts and stops in a new directory",
      fix,
      async run() {
        const dir = await mkdtemp(join(tmpdir(), "grange-doctor-db-"));
        // PostgreSQL may run as another user, who must have access to its files.
        await chmod(dir, 0o755);
        const started = Date.now();
        try {
          const server = await startEmbeddedPostgres({ dataDir: dir, unsafeFast: true });
          await server.stop();
          const seconds = ((Date.now() - started) / 1_000).toFixed(1);
          return ok(`as ${chooseRunAs().description}; started and stopped in ${seconds} s`);
        } catch (reason) {
          return fail(messageOf(reason));
        } finally {
          await rm(dir, { recursive: true, force: true });
        }
      },
    },
  ];
}

function externalCheck(url: string): Check {
  return {
    name: "PostgreSQL",
    needs: `With GRANGE_DATABASE_URL: the server answers, and is version ${oldestServer} or later`,
    fix: "Correct GRANGE_DATABASE_URL, or unset it: Grange then starts its own database",
    async run() {
      const client = new pg.Client({ ...connectionTarget(url), connectionTimeoutMillis: 5_000 });
      client.on("error", () => {});
      try {
        await client.connect();
        const { rows } = await client.query<{ server_version: string }>("show server_version");
        const version = rows[0]?.server_version ?? "0";
        return Number.parseInt(version, 10) >= oldestServer
          ? ok(`PostgreSQL ${version} at ${withoutPassword(url)}`)
          : fail(`PostgreSQL ${version} is too old`, `Install version ${oldestServer} or later`);
      } catch (reason) {
        return fail(`${withoutPassword(url)}: ${messageOf(reason)}`);
      } finally {
        await client.end().catch(() => {});
      }
    },
  };
}

/** Checks the state of an external database, which is read once. */
function stateChecks(url: string): Check[] {
  let reading: Promise<DatabaseState> | undefined;
  const judged = (judge: (state: DatabaseState) => Finding) => async () => {
    reading ??= readState(url);
    return judge(await reading);
  };
  return [
    {
      name: "primary",
      needs: "With GRANGE_DATABASE_URL: the database accepts writes",
      fix: "Name the primary in GRANGE_DATABASE_URL, or primary and standbys: postgres://USER@ONE,TWO/DATABASE",
      run: judged(judgeRole),
    },
    {
      name: "rights of the role",
      needs: "With GRANGE_DATABASE_URL: the role may create tables, and owns those of the farm",
      fix: "GRANT CREATE ON SCHEMA public, or make the role the owner of a schema of its own",
      run: judged(judgeRights),
    },
    {
      name: "durability",
      needs: "With GRANGE_DATABASE_URL: a commit is on the disk when it is acknowledged",
      fix: "Set fsync and full_page_writes to on, and synchronous_commit to on or remote_apply",
      run: judged(judgeDurability),
    },
    {
      name: "free connections",
      needs: "With GRANGE_DATABASE_URL: 10 connections are free for another server",
      fix: "Raise max_connections, or the limit of the role or of the database",
      run: judged(judgeConnections),
    },
    {
      name: "replication",
      needs:
        "With GRANGE_DATABASE_URL: standbys keep up, and one that commits wait for is connected",
      fix: "Start the standbys, and compare their network and disks with those of the primary",
      run: judged(judgeReplication),
    },
  ];
}

async function readState(url: string): Promise<DatabaseState> {
  const db = openPostgres({ url, poolSize: 1, applicationName: "grange doctor" });
  try {
    return await readDatabaseState(db);
  } finally {
    await db.close();
  }
}

function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}
