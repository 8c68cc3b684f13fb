import { access, constants } from "node:fs/promises";
import { settingOfNewFarm } from "#access/access-setting.ts";
import type { Db } from "#db/db.ts";
import { migrationState } from "#db/migrate.ts";
import { openPostgres } from "#db/postgres.ts";
import { explainRefusal } from "#server/blob-storage/judge-store.ts";
import { certificateFiles, openCertificate } from "#server/certificate.ts";
import { keysOf, type ServerKey, verdictOnStore } from "#server/check-settings.ts";
import type { ServerConfig } from "#server/config.ts";
import { bucketCheck } from "../doctor/bucket.ts";
import { type Check, type Finding, fail, ok, warn } from "../doctor/check.ts";
import { dataDirectoryChecks } from "../doctor/data-directory.ts";
import { databaseChecks } from "../doctor/database.ts";
import type { Group } from "../doctor/run-checks.ts";
import { processLogger } from "../process-logger.ts";
import { isFree } from "../up/port-holder.ts";

/**
 * Checks the requirements of a server with a configuration, without changing anything: it applies no migration, creates
 * no key and claims no store. It may run while another server runs with the same settings.
 */
export function serverChecks(config: ServerConfig): Group[] {
  const { databaseUrl, databaseReadUrl, bucket } = config;
  return [
    { name: "Network", checks: [portCheck(config), certificateCheck(config), accessCheck(config)] },
    { name: "Data directory", checks: dataDirectoryChecks(config.dataDir) },
    {
      name: "Keys",
      checks: keysOf(config).map(keyCheck),
    },
    ...(bucket === undefined
      ? []
      : [{ name: "Bucket", checks: [bucketCheck((find) => find(bucket))] }]),
    {
      name: "Database",
      checks: [
        ...databaseChecks(databaseUrl, databaseReadUrl),
        ...(databaseUrl === undefined ? [] : externalDatabaseChecks(config, databaseUrl)),
      ],
    },
  ];
}

function portCheck({ host, port }: ServerConfig): Check {
  return {
    name: "port",
    needs: "The port is free",
    fix: "If it is the server of this farm, there is nothing to do. Otherwise choose another port with --port",
    async run() {
      if (port === 0) return ok("any free port");
      return (await isFree(port, host))
        ? ok(`${host}, port ${port} is free`)
        : warn(`another program already listens on ${host}, port ${port}`);
    },
  };
}

/** A certificate that expires this soon should have been renewed already. */
const soonDays = 14;
const dayMs = 24 * 60 * 60_000;

function certificateCheck(config: ServerConfig): Check {
  return {
    name: "TLS",
    needs: `The certificate is valid for ${soonDays} more days`,
    fix: "Renew it",
    async run() {
      const files = certificateFiles(config);
      if (files === undefined) return ok("not configured; connections are not encrypted");
      const { logger } = processLogger("silent", "check");
      const certificate = await openCertificate(files, logger);
      try {
        const days = Math.floor((certificate.endsAt.getTime() - Date.now()) / dayMs);
        const detail = `for ${certificate.names.join(", ")}, until ${certificate.endsAt.toISOString().slice(0, 10)}`;
        if (days < 0) return fail(`${detail}: it has ended`);
        return days < soonDays ? warn(`${detail}: ${days} days`) : ok(detail);
      } finally {
        await certificate.stop();
      }
    },
  };
}

/** Says which setting a new farm gets. That of an existing farm is in its database, which may not run now. */
function accessCheck(config: ServerConfig): Check {
  return {
    name: "access",
    needs: "Information: the access setting of a new farm",
    fix: "Set it with --access, or later with `grange access set`",
    async run() {
      const setting = settingOfNewFarm(config);
      return ok(`a new farm will be ${setting}; an existing one keeps its setting`);
    },
  };
}

function keyCheck(key: ServerKey): Check {
  const { name, file } = key;
  return {
    name,
    needs: "The key can be read",
    fix: "Make the file readable for the user of the server, or restore it from a backup",
    async run() {
      // Opening creates a missing key, which only the server may do.
      const isThere = await access(file, constants.F_OK).then(
        () => true,
        () => false,
      );
      if (!isThere) return ok(`${file} will be created`);
      await key.open();
      return ok(file);
    },
  };
}

function externalDatabaseChecks(config: ServerConfig, url: string): Check[] {
  const withDatabase = async (find: (db: Db) => Promise<Finding>) => {
    const db = openPostgres({ url, poolSize: 1 });
    try {
      return await find(db);
    } finally {
      await db.close();
    }
  };
  return [
    {
      name: "migrations",
      needs:
        "This version works with the database, and servers that run now work with what it changes",
      fix: "Update Grange",
      run: () => withDatabase(async (db) => migrationFinding(await migrationState(db))),
    },
    {
      name: "blob store",
      needs: "The blob store belongs to this farm",
      fix: "Name the store of this farm with --blobs, or adopt this one with --adopt-store",
      run: () => withDatabase((db) => storeFinding(db, config)),
    },
  ];
}

function migrationFinding({
  missing,
  ahead,
  newer,
  blocked,
}: Awaited<ReturnType<typeof migrationState>>): Finding {
  if (newer !== undefined) return fail(`the database was written by a newer version (${newer})`);
  if (blocked !== undefined)
    return fail(blocked, "Stop these servers, or update them to a version in between");
  if (ahead.length > 0)
    return ok(`none to apply; ${ahead.length} of a newer version, which work with this version`);
  return ok(
    missing.length === 0 ? "none to apply" : `${missing.length} to apply when the server starts`,
  );
}

async function storeFinding(db: Db, config: ServerConfig): Promise<Finding> {
  const { verdict, seen, place } = await verdictOnStore(db, config);
  switch (verdict.kind) {
    case "ours":
      return ok(`${place} belongs to the farm`);
    case "claim":
      return ok(`${place} will belong to the farm when the server starts`);
    case "refuse": {
      const { problem, fix } = explainRefusal(verdict.why, { place, ...seen });
      return fail(problem, fix);
    }
  }
}
