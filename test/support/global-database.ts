import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";
import { copyFiles } from "./prepared-cluster.ts";
import { sharedDatabaseVariable } from "./shared-database.ts";

/**
 * One PostgreSQL for the whole run, with a migrated template database, started when the first test needs it.
 *
 * The start takes several seconds, for which a test without a database should not wait. Test processes request it from
 * this process over HTTP (`shared-database.ts`).
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls this once for each of its projects; all of them use the first one's server.
  if (process.env[sharedDatabaseVariable] !== undefined) return undefined;
  const database = new SharedDatabase();
  const server = createServer((request, response) => {
    const answer = request.url === "/cluster" ? database.cluster() : database.server();
    answer.then(
      (text) => response.end(text),
      (cause: unknown) => response.writeHead(500).end(messageOf(cause)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[sharedDatabaseVariable] =
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return async () => {
    server.close();
    server.closeAllConnections();
    await database.remove();
  };
}

class SharedDatabase {
  readonly #folders: string[] = [];
  #cluster: Promise<string> | undefined;
  #server: Promise<{ url: string; own: EmbeddedPostgres | undefined }> | undefined;

  /**
   * Returns the directory of a stopped, migrated PostgreSQL; farms start with a copy of its files.
   */
  cluster(): Promise<string> {
    this.#cluster ??= this.#makeCluster();
    return this.#cluster;
  }

  /** Returns the URL of the server that holds the template. */
  async server(): Promise<string> {
    this.#server ??= this.#startServer();
    return (await this.#server).url;
  }

  async remove(): Promise<void> {
    await this.#cluster?.catch(() => {});
    const started = await this.#server?.catch(() => undefined);
    await started?.own?.stop();
    await Promise.all(this.#folders.map((each) => rm(each, { recursive: true, force: true })));
  }

  async #makeCluster(): Promise<string> {
    const dataDir = await this.#makeFolder("prepared");
    const server = await startEmbeddedPostgres({ dataDir, unsafeFast: true });
    const db = openPostgres({ url: server.url, poolSize: 1 });
    await migrate(db);
    await db.close();
    await server.stop();
    // Tests kill processes, not the machine: the writes of a killed process are not lost.
    await appendFile(join(dataDir, "pgdata", "postgresql.conf"), "fsync = off\n");
    return dataDir;
  }

  async #startServer(): Promise<{ url: string; own: EmbeddedPostgres | undefined }> {
    const given = process.env["GRANGE_TEST_DATABASE_URL"];
    const own = given === undefined ? await this.#startOwn() : undefined;
    const url = own?.url ?? given ?? "";
    const admin = openPostgres({ url, poolSize: 1 });
    await admin.script(`drop database if exists ${templateDatabase}`);
    const copied = own === undefined ? "" : "template postgres";
    await admin.script(`create database ${templateDatabase} ${copied}`);
    await admin.close();
    if (own === undefined) {
      const template = openPostgres({ url: databaseUrl(url, templateDatabase), poolSize: 1 });
      await migrate(template);
      await template.close();
    }
    return { url, own };
  }

  async #startOwn(): Promise<EmbeddedPostgres> {
    const dataDir = await this.#makeFolder("pg");
    await copyFiles(await this.cluster(), dataDir);
    return startEmbeddedPostgres({ dataDir, unsafeFast: true });
  }

  async #makeFolder(name: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), `grange-test-${name}-`));
    this.#folders.push(folder);
    return folder;
  }
}
