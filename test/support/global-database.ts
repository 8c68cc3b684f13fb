import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";
import { clusterVariable, copyCluster } from "./prepared-cluster.ts";

declare module "vitest" {
  export interface ProvidedContext {
    databaseServer: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated template in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["GRANGE_TEST_DATABASE_URL"];
  const dirs = await Promise.all(
    ["prepared", "pg"].map((name) => mkdtemp(join(tmpdir(), `grange-test-${name}-`))),
  );
  const [prepared = "", dir = ""] = dirs;
  await prepareCluster(prepared);
  await copyCluster(dir);
  const server =
    given === undefined
      ? await startEmbeddedPostgres({ dataDir: dir, unsafeFast: true })
      : undefined;
  const url = server?.url ?? given ?? "";
  const admin = openPostgres({ url, poolSize: 1 });
  await admin.script(`drop database if exists ${templateDatabase}`);
  const copied = server === undefined ? "" : "template postgres";
  await admin.script(`create database ${templateDatabase} ${copied}`);
  await admin.close();
  const template = openPostgres({ url: databaseUrl(url, templateDatabase), poolSize: 1 });
  await migrate(template);
  await template.close();
  project.provide("databaseServer", url);

  return async () => {
    await server?.stop();
    await Promise.all(dirs.map((each) => rm(each, { recursive: true, force: true })));
  };
}

/** Makes the files that farms begin with. */
async function prepareCluster(dataDir: string): Promise<void> {
  // Each of Vitest's projects has its set-up: the second finds what the first has made.
  if (process.env[clusterVariable] !== undefined) return;
  const server = await startEmbeddedPostgres({ dataDir, unsafeFast: true });
  const db = openPostgres({ url: server.url, poolSize: 1 });
  await migrate(db);
  await db.close();
  await server.stop();
  // What tests kill are processes: what those have written, the machine still has.
  await appendFile(join(dataDir, "pgdata", "postgresql.conf"), "fsync = off\n");
  process.env[clusterVariable] = dataDir;
}
