import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbeddedPostgres } from "#db/embedded/embedded-postgres.ts";
import { startBucketServer } from "../../../test/support/bucket-server.ts";
import { diskDirectory } from "../../../test/support/disk-directory.ts";
import { grange, readyUrl } from "../../../test/support/farm.ts";
import { freePort } from "../../../test/support/free-port.ts";
import {
  databaseOnPort,
  endPostgresOnPort,
  startPostgresOnPort,
  userOnPort,
} from "../../../test/support/postgres-on-port.ts";
import { type Program, startProgram } from "../../../test/support/process.ts";
import { type SlowLine, slowLine } from "../../../test/support/slow-line.ts";

/** A link between two continents: 100 Mbit/s in each direction. */
export const longLink = { roundTripMs: 80, bytesPerSecond: 100_000_000 / 8 };

/** A region that a long link connects to the one with the database, the bucket and a server. */
export interface FarRegion {
  /** The server of the main region, for clients there. */
  readonly mainUrl: string;
  /** The same server, over the long link. */
  readonly mainFromFarUrl: string;
  /** Starts a server in the far region, with an empty disk; returns its address. */
  startNearServer(): Promise<string>;
  /** Starts a worker in the far region, with one slot and an empty disk. Resolves when the farm knows it. */
  startWorker(server: string): Promise<Program>;
  /** The bytes that the long link has carried, in both directions. */
  carriedBytes(): number;
}

/** Starts both regions on this machine; the long link is a proxy that delays and limits what it carries. */
export async function withFarRegion<T>(work: (region: FarRegion) => Promise<T>): Promise<T> {
  const top = await mkdtemp(join(diskDirectory(), "grange-region-"));
  const undo: (() => Promise<unknown>)[] = [() => rm(top, { recursive: true, force: true })];
  const lines: SlowLine[] = [];
  const openLine = async (port: number) => {
    const line = await slowLine(port, longLink);
    lines.push(line);
    undo.push(() => line.close());
    return line.port;
  };
  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const program = startProgram(process.execPath, [grange, ...args], { env });
    undo.push(() => {
      program.signal("SIGTERM");
      return program.finished;
    });
    return program;
  };
  try {
    const bucket = await startBucketServer();
    undo.push(() => bucket.stop());
    const dataDir = join(top, "database");
    await (await startEmbeddedPostgres({ dataDir })).stop();
    const databasePort = await freePort();
    const database = await startPostgresOnPort(join(dataDir, "pgdata"), databasePort, {
      fsync: "on",
    });
    undo.push(() => endPostgresOnPort(database, "SIGINT"));

    const startServer = async (
      name: string,
      ports: { database: number; bucket: number },
      env: Readonly<Record<string, string>> = {},
    ) => {
      const data = join(top, name);
      const server = start(["server", "--data", data, "--port", "0"], {
        GRANGE_FARM_KEY: join(top, "farm.key"),
        GRANGE_SECRETS_KEY: join(top, "secrets.key"),
        GRANGE_DATABASE_URL: `postgres://${userOnPort}@127.0.0.1:${ports.database}/${databaseOnPort}`,
        GRANGE_STORE: `s3://${bucket.bucket}/main`,
        GRANGE_STORE_ENDPOINT: `http://127.0.0.1:${ports.bucket}`,
        AWS_ACCESS_KEY_ID: bucket.accessKeyId,
        AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
        ...env,
      });
      return readyUrl(server);
    };
    const bucketPort = Number(bucket.endpoint.port);
    const mainUrl = await startServer("main", { database: databasePort, bucket: bucketPort });
    const mainFromFar = await openLine(Number(new URL(mainUrl).port));
    let workers = 0;
    return await work({
      mainUrl,
      mainFromFarUrl: `http://127.0.0.1:${mainFromFar}`,
      async startNearServer() {
        const ports = {
          database: await openLine(databasePort),
          bucket: await openLine(bucketPort),
        };
        return startServer("near", ports, { GRANGE_PREPARE_JOBS: "0" });
      },
      async startWorker(server) {
        const name = `far-${++workers}`;
        const args = ["--server", server, "--name", name, "--data", join(top, name)];
        const worker = start(["worker", ...args, "--slots", "1"]);
        while (!(await knowsWorker(mainUrl, name))) await delay(50);
        return worker;
      },
      carriedBytes: () =>
        lines.reduce((sum, { carried }) => sum + carried.toServer + carried.toClient, 0),
    });
  } finally {
    for (const each of undo.toReversed()) await each();
  }
}

async function knowsWorker(url: string, name: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/v1/workers`);
  return JSON.stringify(await answer.json()).includes(`"${name}"`);
}
