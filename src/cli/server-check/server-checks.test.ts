import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { silent } from "#execution/execution.fixture.ts";
import { readServerConfig } from "#server/config.ts";
import { startServer } from "#server/start-server.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { runChecks } from "../doctor/run-checks.ts";
import { serverChecks } from "./server-checks.ts";

const databaseUrl = await freshDatabase();
const top = await mkdtemp(join(tmpdir(), "grange-check-"));
afterAll(() => rm(top, { recursive: true }));

async function check(settings: Parameters<typeof readServerConfig>[0]) {
  const config = readServerConfig({ port: 0, databaseUrl, ...settings }, {});
  const results = [];
  for await (const result of runChecks(serverChecks(config))) results.push(result);
  return results;
}
const named = (results: Awaited<ReturnType<typeof check>>, name: string) =>
  results.find((result) => result.name === name);

test("settings with which a server can start have no failure, and checking changes nothing", async () => {
  const dataDir = join(top, "new");
  await mkdir(dataDir);

  const results = await check({ dataDir });

  expect(results.filter(({ status }) => status === "fail")).toEqual([]);
  expect(await readdir(dataDir)).toEqual([]);
  expect(named(results, "key of the farm")?.detail).toBe(
    `${join(dataDir, "farm.key")} will be created`,
  );
  expect(named(results, "migrations")?.detail).toBe("none to apply");
});

test("a port that is taken, a broken certificate and a broken key are each named with what to do", async () => {
  const dataDir = join(top, "broken");
  await mkdir(dataDir);
  const [cert, key] = [join(dataDir, "cert.pem"), join(dataDir, "key.pem")];
  for (const file of [cert, key, join(dataDir, "farm.key")]) await writeFile(file, "no key");
  const holder = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));

  const results = await check({
    dataDir,
    port: (holder.address() as AddressInfo).port,
    tlsCert: cert,
    tlsKey: key,
  });

  expect(named(results, "port")).toMatchObject({ status: "warn" });
  expect(named(results, "TLS")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining(`${cert} holds no certificate in PEM`),
  });
  expect(named(results, "key of the farm")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining("it has no private key in PEM"),
  });
  holder.close();
});

test("blobs of another place than the farm's, and a database of a newer version, are failures", async () => {
  const url = await freshDatabase();
  const dataDir = join(top, "first");
  const server = await startServer(
    readServerConfig({ dataDir, port: 0, databaseUrl: url }, {}),
    silent,
  );
  await server.stop();

  const same = await check({ dataDir, databaseUrl: url });
  const apart = await check({ dataDir: join(top, "second"), databaseUrl: url });

  expect(named(same, "blob store")?.detail).toBe(`${join(dataDir, "blobs")} belongs to the farm`);
  expect(named(apart, "blob store")).toMatchObject({
    status: "fail",
    fix: expect.stringContaining("--adopt-store"),
  });

  const db = openPostgres({ url, poolSize: 1 });
  await db.run(sql`insert into migration (number, name) values (9999, '9999_of_the_future.sql')`);
  await db.close();
  expect(named(await check({ dataDir, databaseUrl: url }), "migrations")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining("9999_of_the_future.sql"),
  });
});

test("a database that does not answer is a failure that names its address without the password", async () => {
  const results = await check({
    dataDir: join(top, "away"),
    databaseUrl: "postgres://grange:secret@127.0.0.1:1/grange",
  });

  const found = named(results, "PostgreSQL");
  expect(found?.status).toBe("fail");
  expect(found?.detail).toContain("127.0.0.1:1");
  expect(JSON.stringify(results)).not.toContain("secret@");
});
