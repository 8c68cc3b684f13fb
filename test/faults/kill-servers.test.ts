import { describe, expect, onTestFinished, test } from "vitest";
import { bucketServerNeed, startBucketServer } from "../support/bucket-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { needs } from "../support/needs/needs.ts";
import { killServers } from "./kill-servers.ts";

const databaseUrl = await freshDatabase();

describe("three servers behind a load balancer", needs(bucketServerNeed), () => {
  test("kill -9 of the leader loses nothing, and clients see no error that their retries do not cure", async () => {
    const bucket = await startBucketServer();
    onTestFinished(() => bucket.stop());

    const seen = await killServers({ bucket, databaseUrl, kills: 1, graphs: 2 });

    expect(seen.violations).toEqual([]);
    expect(seen.errors).toEqual([]);
    expect(seen.actions).toBeGreaterThan(0);
    expect(seen.uploads).toBeGreaterThan(0);
    expect(seen.commands).toBeGreaterThan(0);
    // The lease of leader work, and how often others look.
    expect(Math.max(...seen.leaderMs)).toBeLessThan(10_000);
  });
});
