import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { freePort } from "../../test/support/free-port.ts";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { endPostgresOnPort, startPostgresOnPort } from "../../test/support/postgres-on-port.ts";
import { copyCluster } from "../../test/support/prepared-cluster.ts";
import { testCertificate } from "../../test/support/test-certificate.ts";
import {
  hostsOf,
  problemOfDatabaseUrl,
  problemOfReadUrl,
  replicasOf,
} from "./connection-target.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";

test.each([
  ["postgres://grange@one/farm", []],
  ["postgres:///farm?host=%2Ftmp%2Fsocket&user=grange", []],
  [
    "postgresql://grange:p%40ss@one,two:6432,[::1]:7000/farm?target_session_attrs=read-write",
    [
      { host: "one", port: 5432 },
      { host: "two", port: 6432 },
      { host: "::1", port: 7000 },
    ],
  ],
])("%s has the hosts of a primary and its standbys", (url, hosts) => {
  expect(hostsOf(url)).toEqual(hosts);
});

test.each([
  ["postgres://grange@one,/farm", /not HOST or HOST:PORT: ""/],
  ["postgres://grange@one,two:99999/farm", /"two:99999"/],
  ["postgres://one,two/farm?target_session_attrs=standby", /use read-write/],
])("%s is refused", (url, problem) => {
  expect(() => hostsOf(url)).toThrow(problem);
  expect(problemOfDatabaseUrl(url)).toMatch(problem);
});

test("a text that is no URL is refused, and one with several hosts is not", () => {
  expect(problemOfDatabaseUrl("farm")).toMatch(/not a URL such as postgres:/);
  expect(problemOfDatabaseUrl("postgres://grange@one,two/farm")).toBeUndefined();
  expect(problemOfDatabaseUrl("postgres:///farm?host=%2Ftmp&user=grange")).toBeUndefined();
});

test("hosts of which none accepts connections are each named, as a failure that passes", async () => {
  const [one, two] = [await freePort(), await freePort()];
  const db = openPostgres({ url: `postgres://grange@127.0.0.1:${one},127.0.0.1:${two}/farm` });

  await expect(db.run(sql`select 1`)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(
      new RegExp(`no host of the database accepts writes: .*:${one}: .*:${two}: `),
    ),
  });
  await db.close();
});

test("a write to a read-only database is a failure that passes, and the next one has a new connection", async () => {
  const url = await freshDatabase();
  const db = openPostgres({ url, poolSize: 1 });
  const pid = async () => {
    const [row] = await db.many(z.object({ pid: z.number() }), sql`select pg_backend_pid() as pid`);
    return row?.pid;
  };
  const before = await pid();

  await expect(
    db.transaction(async (tx) => {
      await tx.run(sql`set transaction read only`);
      await tx.run(sql`create table more ()`);
    }),
  ).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("standby") });

  expect(await pid()).not.toBe(before);
  await db.close();
});

test("with TLS, the certificate must name one of the hosts and come from the authority of the URL", async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-tls-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await copyCluster(directory);
  const pgdata = join(directory, "pgdata");
  const { cert, key } = await testCertificate(pgdata, "server", "DNS:localhost");
  const other = await testCertificate(directory, "other");
  const [port, closed] = [await freePort(), await freePort()];
  const server = await startPostgresOnPort(pgdata, port, {
    ssl: "on",
    ssl_cert_file: cert,
    ssl_key_file: key,
  });
  onTestFinished(() => endPostgresOnPort(server, "SIGINT"));
  const ca = join(directory, "ca.pem");
  await copyFile(cert, ca);
  const isEncrypted = async (hosts: string, authority: string) => {
    const db = openPostgres({
      url: `postgres://grange@${hosts}/postgres?sslmode=verify-full&sslrootcert=${authority}`,
      poolSize: 1,
    });
    try {
      const Row = z.object({ ssl: z.boolean() });
      const own = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      return (await db.many(Row, own))[0]?.ssl;
    } finally {
      await db.close();
    }
  };

  expect(await isEncrypted(`localhost:${port}`, ca)).toBe(true);
  expect(await isEncrypted(`127.0.0.1:${closed},localhost:${port}`, ca)).toBe(true);
  await expect(isEncrypted(`localhost:${port}`, other.cert)).rejects.toThrow(/self-signed/);
  await expect(isEncrypted(`127.0.0.1:${port},127.0.0.2:${closed}`, ca)).rejects.toThrow(
    /does not match certificate's altnames/,
  );
});

test.each([
  ["postgres://grange@two/farm", [{ place: "two:5432", url: "postgres://grange@two/farm" }]],
  [
    "postgres://grange:p%40ss@two,[::1]:7000/farm?target_session_attrs=standby&sslmode=require",
    [
      { place: "two:5432", url: "postgres://grange:p%40ss@two/farm?sslmode=require" },
      { place: "::1:7000", url: "postgres://grange:p%40ss@[::1]:7000/farm?sslmode=require" },
    ],
  ],
  [
    "postgres://two,three/farm?sslmode=require&target_session_attrs=any",
    [
      { place: "two:5432", url: "postgres://two/farm?sslmode=require" },
      { place: "three:5432", url: "postgres://three/farm?sslmode=require" },
    ],
  ],
])("each replica of %s has a URL of its own", (url, replicas) => {
  expect(replicasOf(url)).toEqual(replicas);
  expect(problemOfReadUrl(url)).toBeUndefined();
});

test.each(["two", "https://two/farm", "postgres://two,:5432/farm", "postgres://two:99999/farm"])(
  "%s names no replicas",
  (url) => {
    expect(problemOfReadUrl(url)).toMatch(/GRANGE_DATABASE_READ_URL/);
  },
);
