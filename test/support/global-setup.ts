import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { databaseDirectory, removeOldDatabases } from "./database-directory.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";
import { copyFiles } from "./prepared-cluster.ts";
import { type SharedResource, sharedResourcesVariable } from "./shared-resources.ts";

/** Of the names of directories that a run makes. */
const prefix = "grange-test-";

const script = new URL("../../scripts/page-bundles.mjs", import.meta.url).href;

/**
 * Makes what the tests of a run share when the first of them needs it: a PostgreSQL with a migrated template database,
 * and the built pages.
 *
 * Each takes several seconds, for which a test without a database or a browser should not wait. Test processes request
 * them from this process over HTTP (`shared-resources.ts`).
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls this once for each of its projects; all of them use what the first one makes.
  if (process.env[sharedResourcesVariable] !== undefined) return undefined;
  await removeOldDatabases(prefix);
  const shared = new SharedByRun();
  const server = createServer((request, response) => {
    shared.get((request.url ?? "").slice(1) as SharedResource).then(
      (text) => response.end(text),
      (cause: unknown) => response.writeHead(500).end(messageOf(cause)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[sharedResourcesVariable] =
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return async () => {
    server.close();
    server.closeAllConnections();
    await shared.remove();
  };
}

class SharedByRun {
  readonly #folders: string[] = [];
  #cluster: Promise<string> | undefined;
  #pages: Promise<string> | undefined;
  #server: Promise<{ url: string; own: EmbeddedPostgres | undefined }> | undefined;

  get(resource: SharedResource): Promise<string> {
    switch (resource) {
      case "cluster":
        return this.#preparedCluster();
      case "server":
        return this.#databaseServer();
      case "pages":
        this.#pages ??= this.#buildPages();
        return this.#pages;
    }
  }

  /** Returns the directory of a stopped, migrated PostgreSQL; farms start with a copy of its files. */
  #preparedCluster(): Promise<string> {
    this.#cluster ??= this.#makeCluster();
    return this.#cluster;
  }

  /** Returns the URL of the server that holds the template. */
  async #databaseServer(): Promise<string> {
    this.#server ??= this.#startServer();
    return (await this.#server).url;
  }

  async remove(): Promise<void> {
    await Promise.allSettled([this.#cluster, this.#pages]);
    const started = await this.#server?.catch(() => undefined);
    await started?.own?.stop();
    await Promise.all(this.#folders.map((each) => rm(each, { recursive: true, force: true })));
  }

  async #makeCluster(): Promise<string> {
    const dataDir = await this.#makeFolder("prepared", databaseDirectory());
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
    const dataDir = await this.#makeFolder("pg", databaseDirectory());
    await copyFiles(await this.#preparedCluster(), dataDir);
    return startEmbeddedPostgres({ dataDir, unsafeFast: true });
  }

  async #buildPages(): Promise<string> {
    const { buildPages } = (await import(script)) as {
      readonly buildPages: (outDir: string) => Promise<void>;
    };
    const directory = join(await this.#makeFolder("pages"), "pages");
    await buildPages(directory);
    return directory;
  }

  async #makeFolder(name: string, parent = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(parent, `${prefix}${name}-`));
    this.#folders.push(folder);
    return folder;
  }
}
