import { expect, onTestFinished, test } from "vitest";
import { grange } from "../support/farm.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { laterRelease, newestBuiltMigration } from "../support/later-release.ts";
import { runGrange } from "../support/run-grange.ts";
import { severalServers } from "../support/several-servers.ts";
import { rollUpgrade } from "./rolling-upgrade.ts";

const databaseUrls = [await freshDatabase(), await freshDatabase()] as const;
const newest = await newestBuiltMigration();

async function release(migrations: Readonly<Record<string, string>>): Promise<string> {
  const { program, remove } = await laterRelease(migrations);
  onTestFinished(remove);
  return program;
}

const expanding = {
  "9001_expand.sql": `-- works-with: ${newest}\nalter table graph add column later text;\ncreate table later ();\n`,
};

test("servers are replaced by those of the next release and back under load, and clients see no error", async () => {
  const later = await release(expanding);

  const seen = await rollUpgrade({
    databaseUrl: databaseUrls[0],
    earlier: grange,
    later,
    rounds: 1,
    servers: 1,
  });

  expect(seen.violations).toEqual([]);
  expect(seen.errors).toEqual([]);
  expect(seen.replaced).toBe(2);
  expect(seen.actions).toBeGreaterThan(0);
});

test("a release whose schema breaks older servers waits until they have stopped; then they are refused", async () => {
  const farm = await severalServers({ GRANGE_DATABASE_URL: databaseUrls[1] });
  onTestFinished(() => farm.stop());
  const older = await farm.startServer();
  const breaking = await release({
    ...expanding,
    "9002_contract.sql":
      "-- breaks-older-servers: they read the column\nalter table graph drop column later;\n",
  });

  const check = await runGrange(
    ["server", "--data", older.dataDir, "--port", "0", "--check", "--json"],
    { env: { GRANGE_DATABASE_URL: databaseUrls[1] }, program: breaking },
  );
  expect(check.stdout).toContain("would fail after 9002_contract.sql");

  const next = farm.launch({ program: breaking });
  await next.note((line) => line.includes("waiting for servers of an older version"));
  expect((await fetch(`${older.url}/readyz`)).status).toBe(200);
  await farm.endServer(older, "SIGTERM");
  await next.line((line) => line.startsWith('{"ready":true'));

  const { code, stdout } = await farm.launch().finished;
  expect(code).toBe(1);
  expect(stdout).toMatch(/newer version of Grange \(it has 9002_contract\.sql/);
  next.signal("SIGTERM");
  await next.finished;
});
