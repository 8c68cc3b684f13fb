import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { migrate } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { databaseUrl, templateDatabase } from "./database-url.ts";

declare module "vitest" {
  export interface ProvidedContext {
    databaseServer: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated template in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["GRANGE_TEST_DATABASE_URL"];
  const dir = await mkdtemp(join(tmpdir(), "grange-test-pg-"));
  const server =
    given === undefined
      ? await startEmbeddedPostgres({ dataDir: dir, unsafeFast: true })
      : undefined;
  const url = server?.url ?? given ?? "";
  const admin = openPostgres({ url, poolSize: 1 });
  await admin.script(`drop database if exists ${templateDatabase}`);
  await admin.script(`create database ${templateDatabase}`);
  await admin.close();
  const template = openPostgres({ url: databaseUrl(url, templateDatabase), poolSize: 1 });
  await migrate(template);
  await template.close();
  project.provide("databaseServer", url);

  return async () => {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  };
}
