import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup } from "#api/backup.ts";
import { backupLayout, isBackupName, oneBackup } from "#backup/layout.ts";
import { readManifest, writeManifest } from "#backup/manifest.ts";
import { databaseUrl } from "../support/database-url.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";
import { grangeJson, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";
import { sharedDatabaseServer } from "../support/shared-resources.ts";

const definitions = `
version: 1
parameters:
  round: { default: "0" }
jobs:
  make:
    commands: 'echo "made \${parameters.round}" | tee made.txt'
    inputs: []
    outputs: [made.txt]
  use:
    needs: [make]
    commands: cat made.txt && sleep 0.2
    inputs: []
`;

let repository: SampleRepository;
let top: string;

beforeAll(async () => {
  repository = await sampleRepository({ ".grange/farm.yml": definitions });
  top = await mkdtemp(join(tmpdir(), "grange-backup-"));
});
afterAll(async () => {
  await repository.remove();
  await rm(top, { recursive: true, force: true });
});

interface BackupResult {
  readonly backup: string;
  readonly blobs: { readonly count: number; readonly copied: number; readonly damaged: number };
  readonly secretFiles: readonly string[];
}

/** Each graph and blob is read again after the restore, so a faster load would only make the test longer. */
const mostUnfinished = 3;
const blobEveryMs = 10;

/**
 * Submits graphs, of which at most `mostUnfinished` are unfinished, and uploads blobs until `stop` is called. `graphs`
 * and `blobs` are what the farm acknowledged.
 */
function keepBusy(farm: Farm) {
  const graphs: string[] = [];
  const blobs: Buffer[] = [];
  let isOver = false;
  const submitting = (async () => {
    for (let round = 1; !isOver; round++) {
      const submitted = await farm.submit({
        repository: repository.path,
        parameters: { round: String(round) },
      });
      graphs.push(submitted.id);
      const earlier = graphs.at(-mostUnfinished);
      if (earlier !== undefined) await farm.untilOver(earlier);
    }
  })();
  const uploading = (async () => {
    while (!isOver) {
      const blob = randomBytes(20_000);
      const answer = await fetch(blobUrl(farm, blob), {
        method: "PUT",
        body: new Uint8Array(blob),
      });
      if (!answer.ok) throw new Error(`an upload was answered ${answer.status}`);
      blobs.push(blob);
      await delay(blobEveryMs);
    }
  })();
  return {
    graphs,
    blobs,
    async stop() {
      isOver = true;
      await Promise.all([submitting, uploading]);
    },
  };
}

function blobUrl(farm: Farm, blob: Buffer): string {
  const hash = createHash("sha256").update(blob).digest("hex");
  return `${farm.url}/cache/default/bazel/cas/${hash}`;
}

/**
 * Expects that a farm has everything that was acknowledged, that unfinished graphs end, and that completed jobs do not
 * run again.
 */
async function expectRestored(
  farm: Farm,
  graphs: readonly string[],
  blobs: readonly Buffer[],
): Promise<void> {
  for (const [index, id] of graphs.entries()) {
    const graph = await farm.untilOver(id);
    expect(graph.state).toBe("succeeded");
    const round = String(index + 1);
    expect(await farm.log(id, "use")).toContain(`made ${round}`);
    const output = `${farm.url}/api/v1/graphs/${id}/jobs/make/runs/1/outputs/made.txt`;
    expect(await (await fetch(output)).text()).toBe(`made ${round}\n`);
  }
  for (const blob of blobs) {
    const answer = await fetch(blobUrl(farm, blob));
    expect(Buffer.from(await answer.arrayBuffer()).equals(blob)).toBe(true);
  }
  const again = await farm.submit({ repository: repository.path, parameters: { round: "1" } });
  const { jobList } = await farm.untilOver(again.id);
  expect(jobList.map(({ name, cached }) => [name, cached])).toEqual([
    ["make", true],
    ["use", true],
  ]);
}

test("a farm that is backed up under load, destroyed and restored has every graph, log, output and blob that was acknowledged before", async () => {
  const dataDir = join(top, "under-load");
  const backups = join(top, "under-load-backups");
  const first = await startFarm({ dataDir, workers: 2 });
  const busy = keepBusy(first);
  await expect.poll(() => busy.graphs.length).toBeGreaterThan(3);
  await first.untilOver(busy.graphs[0] ?? "");
  const graphs = [...busy.graphs];
  const blobs = [...busy.blobs];

  const taken = (await grangeJson(["backup", backups, "--data", dataDir])) as BackupResult;

  expect(taken.blobs.damaged).toBe(0);
  expect(taken.blobs.copied).toBe(taken.blobs.count);
  expect(taken.secretFiles).toEqual(["farm.key", "secrets.key"]);
  await busy.stop();
  const again = (await grangeJson(["backup", backups, "--data", dataDir])) as BackupResult;
  expect(again.blobs.count).toBeGreaterThanOrEqual(taken.blobs.count);
  expect(again.blobs.copied).toBeLessThanOrEqual(again.blobs.count - taken.blobs.count);
  const told = (await (await fetch(`${first.url}/api/v1/backups`)).json()) as Backup[];
  expect(told.map(({ directory }) => directory)).toEqual([backups, backups]);
  expect(Date.parse(told[0]?.finishedAt ?? "")).toBeGreaterThan(
    Date.parse(told[1]?.finishedAt ?? ""),
  );
  await first.stop();
  await rm(dataDir, { recursive: true, force: true });

  await grangeJson(["restore", backups, "--data", dataDir, "--backup", taken.backup]);

  expect((await stat(join(dataDir, "farm.key"))).mode & 0o777).toBe(0o600);
  const second = await startFarm({ dataDir, workers: 2 });
  try {
    await expectRestored(second, graphs, blobs);
  } finally {
    await second.stop();
  }
});

test("the same is true for an external database, restored into another one", async () => {
  const server = await sharedDatabaseServer();
  const names = ["from", "to"].map((name) => `backup_${name}_${randomBytes(6).toString("hex")}`);
  const [from = "", to = ""] = names.map((name) => databaseUrl(server, name));
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    for (const name of names) await admin.query(`create database ${name}`);
    const dataDir = join(top, "external");
    const backups = join(top, "external-backups");
    const first = await startFarm({ dataDir, env: { GRANGE_DATABASE_URL: from } });
    const { id } = await first.submit({ repository: repository.path, parameters: { round: "1" } });
    await first.untilOver(id);
    await grangeJson(["backup", backups, "--data", dataDir, "--database", from]);
    await first.stop();
    await rm(dataDir, { recursive: true, force: true });

    const full = await runGrange(["restore", backups, "--data", dataDir, "--database", from]);
    await grangeJson(["restore", backups, "--data", dataDir, "--database", to]);

    expect(full.code).toBe(1);
    expect(full.stderr).toMatch(/the database is not empty/);
    const second = await startFarm({ dataDir, env: { GRANGE_DATABASE_URL: to } });
    await expectRestored(second, [id], []);
    await second.stop();
  } finally {
    for (const name of names) await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
});

/** Makes a directory with one backup of a stopped farm. */
async function oneSmallBackup(name: string) {
  const dataDir = join(top, name);
  const backups = join(top, `${name}-backups`);
  const farm = await startFarm({ dataDir });
  const { id } = await farm.submit({ repository: repository.path });
  await farm.untilOver(id);
  await farm.stop();
  // Without a server: the command starts the database itself.
  const taken = (await grangeJson(["backup", backups, "--data", dataDir])) as BackupResult;
  const layout = backupLayout(backups);
  return { dataDir, backups, layout, backup: oneBackup(layout, taken.backup) };
}

test("a backup with a damaged file, blob or manifest is refused, and the error names it", async () => {
  const { backups, layout, backup } = await oneSmallBackup("damaged");
  const target = join(top, "damaged-target");
  const restored = () => runGrange(["restore", backups, "--data", target]);
  const expectRefused = async (told: RegExp) => {
    for (const args of [
      ["restore", backups, "--data", target],
      ["restore", backups, "--check"],
    ]) {
      const { code, stderr, stdout } = await runGrange(args);
      expect(code).toBe(1);
      expect(stderr + stdout).toMatch(told);
    }
  };
  /** Damages a file during a check, and repairs it afterwards. */
  const whileDamaged = async (path: string, change: (bytes: Buffer) => Buffer, told: RegExp) => {
    const bytes = await readFile(path);
    await rm(path);
    await writeFile(path, change(bytes));
    await expectRefused(told);
    await rm(path);
    await writeFile(path, bytes, { mode: 0o600 });
  };
  const flip = (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    const middle = copy.byteLength >> 1;
    copy[middle] = (copy[middle] ?? 0) ^ 1;
    return copy;
  };

  await whileDamaged(backup.table("graph"), flip, /graph\.copy\.gz do not match/);
  await whileDamaged(backup.blobList, flip, /blobs\.gz do not match/);
  await whileDamaged(join(backup.files, "farm.key"), flip, /farm\.key do not match/);
  await whileDamaged(
    backup.manifest,
    (bytes) => Buffer.from(bytes.toString().replace('"damaged": 0', '"damaged": 1')),
    /manifest\.json is damaged/,
  );
  expect(existsSync(target)).toBe(false);

  const shards = await readdir(layout.blobs);
  const blobs = await Promise.all(
    shards.map(async (shard) =>
      (await readdir(join(layout.blobs, shard))).map((hash) => [shard, hash]),
    ),
  );
  const [shard = "", hash = ""] = blobs.flat()[0] ?? [];
  await truncate(join(layout.blobs, shard, hash), 0);
  await expectRefused(new RegExp(hash));
  const server = await runGrange(["server", "--data", target, "--port", "0"]);
  expect(server.code).toBe(1);
  expect(server.stdout).toMatch(/a restore into .* was interrupted/);

  const skipped = await runGrange(["restore", backups, "--data", target, "--skip-damaged"]);
  expect(skipped.stderr + skipped.stdout).toMatch(/without 1 blobs/);
  expect(skipped.code).toBe(0);
  const refused = await restored();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/there is already a farm/);
});

test("a backup of a newer version is refused before anything is written", async () => {
  const { backups, backup } = await oneSmallBackup("newer");
  const target = join(top, "newer-target");
  const manifest = await readManifest(backup.manifest);
  if (manifest === undefined) throw new Error("there is no manifest");
  const { schema } = manifest;
  await writeManifest(backup.manifest, {
    ...manifest,
    schema: { ...schema, migrations: [...schema.migrations, "9999_future.sql"] },
  });

  const { code, stderr } = await runGrange(["restore", backups, "--data", target]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/newer version of Grange \(it has 9999_future\.sql\)/);
  expect(existsSync(target)).toBe(false);
});

test("of two simultaneous backups one is refused, and a killed one never counts as complete", async () => {
  const dataDir = join(top, "killed");
  const backups = join(top, "killed-backups");
  const farm = await startFarm({ dataDir, workers: 0 });
  const blocker = new pg.Client({ connectionString: await farmDatabaseUrl(farm) });
  await blocker.connect();
  try {
    // A backup waits here, before its end, until it is killed.
    await blocker.query("begin; lock table drain in access exclusive mode");
    const killed = startGrange(["backup", backups, "--data", dataDir]);
    await expect
      .poll(async () => {
        const { rows } = await blocker.query(
          "select from pg_locks where relation = 'drain'::regclass and not granted",
        );
        return rows.length;
      })
      .toBe(1);

    const sameDirectory = await runGrange(["backup", backups, "--data", dataDir]);
    const otherDirectory = await runGrange(["backup", join(top, "other"), "--data", dataDir]);
    killed.signal("SIGKILL");
    await killed.finished;
    await blocker.query("rollback");

    expect(sameDirectory.code).toBe(1);
    expect(sameDirectory.stderr).toMatch(/another backup or restore \(process \d+\) has used/);
    expect(otherDirectory.code).toBe(1);
    expect(otherDirectory.stderr).toMatch(/another backup of this farm/);
    expect((await readdir(join(backups, "backups"))).filter(isBackupName)).toHaveLength(1);
    const target = join(top, "killed-target");
    const refused = await runGrange(["restore", backups, "--data", target]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/no complete backup.*interrupted/);
    expect(existsSync(target)).toBe(false);

    const { backup } = (await grangeJson(["backup", backups, "--data", dataDir])) as BackupResult;
    expect(await readdir(join(backups, "backups"))).toEqual([backup]);
  } finally {
    await blocker.end();
    await farm.stop();
  }
});

test("a backup during which eviction was not paused is not complete, and reports the reason", async () => {
  const dataDir = join(top, "evicted");
  const backups = join(top, "evicted-backups");
  const farm = await startFarm({ dataDir, workers: 0 });
  const blocker = new pg.Client({ connectionString: await farmDatabaseUrl(farm) });
  await blocker.connect();
  try {
    await blocker.query("begin; lock table drain in access exclusive mode");
    const backup = startGrange(["backup", backups, "--data", dataDir]);
    await expect
      .poll(async () => {
        const { rows } = await blocker.query(
          "select from pg_locks where relation = 'drain'::regclass and not granted",
        );
        return rows.length;
      })
      .toBe(1);
    // A server does the same when it takes a suspended backup for dead.
    await rm(join(dataDir, "blobs", "eviction.lock"));
    await blocker.query("rollback");

    const { code, stderr } = await backup.finished;

    expect(code).toBe(1);
    expect(stderr).toMatch(/may have evicted blobs before they were copied.*run the backup again/);
    expect((await readdir(join(backups, "backups"))).filter(isBackupName)).toEqual([]);
  } finally {
    await blocker.end();
    await farm.stop();
  }
});

test("old backups are deleted, with the blobs that only they use", async () => {
  const { dataDir, backups, layout } = await oneSmallBackup("old");
  const stored = async () => {
    const shards = await readdir(layout.blobs);
    const names = await Promise.all(shards.map((shard) => readdir(join(layout.blobs, shard))));
    return names.flat().length;
  };
  const before = await stored();
  await rm(join(dataDir, "blobs", "blobs"), { recursive: true });

  const taken = (await grangeJson([
    "backup",
    backups,
    "--data",
    dataDir,
    "--keep",
    "1",
  ])) as BackupResult;

  expect(before).toBeGreaterThan(0);
  expect(taken.blobs.count).toBe(0);
  expect(await stored()).toBe(0);
  expect((await runGrange(["restore", backups, "--check"])).code).toBe(0);
});
