import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { artifactsReady, cancelRequest, retryRequest } from "./change-request.ts";
import type { BenchmarkRequestId } from "./request.store.ts";
import { removeOldJobs } from "./request-job.store.ts";
import { requestSummaries } from "./request-page.store.ts";
import { aService, endJobs, measureAll } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const nothing = async () => {};
const stateOf = async (id: BenchmarkRequestId) => (await requestSummaries(db, [id]))[0]?.state;
const jobStates = async (id: BenchmarkRequestId) =>
  (
    await db.many(
      z.object({ state: z.string() }),
      sql`
        select distinct state from benchmark_job as job
        join benchmark_request_job as waits on waits.job_id = job.id where waits.request_id = ${id} order by state
      `,
    )
  ).map(({ state }) => state);

async function measuring() {
  await storeSuite(db);
  const artifact = await storeArtifact(db, { tag: "a" });
  const service = aService(db);
  const { id } = await service.submit({ artifact: "a" });
  await service.advance();
  return { service, id, artifact };
}

describe("cancelling", () => {
  test("ends a request and its jobs in one transaction", async () => {
    const { service, id } = await measuring();

    await cancelRequest(service.services, id, "ada", nothing);

    expect(await requestSummaries(db, [id])).toMatchObject([
      { state: "cancelled", endedBy: "ada", jobs: { total: 10, ended: 10, failed: 0 } },
    ]);
    expect(await jobStates(id)).toEqual(["cancelled"]);
  });

  test("causes the examination of the results so far for steps", async () => {
    const { service, id, artifact } = await measuring();

    await cancelRequest(service.services, id, "ada", nothing);

    expect(
      await db.many(
        z.object({ id: z.number() }),
        sql`select artifact_id as id from benchmark_unexamined`,
      ),
    ).toEqual([{ id: artifact.id }]);
  });

  test("by two clients at the same time has an effect once", async () => {
    const { service, id } = await measuring();
    let recorded = 0;
    const record = async () => {
      recorded++;
    };

    await Promise.all([
      cancelRequest(service.services, id, "ada", record),
      cancelRequest({ ...service.services, db: otherDb }, id, "bob", record),
    ]);

    expect(recorded).toBe(1);
  });

  test("at the same time as the end leads to one of the two, never both", async () => {
    for (let round = 0; round < 5; round++) {
      await emptyLab(db);
      const { service, id } = await measuring();
      await endJobs(db, id);

      await Promise.allSettled([
        cancelRequest({ ...service.services, db: otherDb }, id, "ada", nothing),
        service.advance(),
      ]);

      expect(["cancelled", "completed"]).toContain(await stateOf(id));
    }
  });

  test("is refused for a request that has ended", async () => {
    const { service, id } = await measuring();
    await endJobs(db, id);
    await service.advance();

    await expect(cancelRequest(service.services, id, "ada", nothing)).rejects.toThrow(
      /already completed/,
    );
  });

  test("keeps jobs that another request also waits for", async () => {
    await storeSuite(db, aSuite({ requestsAtOnce: 3 }));
    const parent = await storeArtifact(db, { tag: "parent" });
    await storeArtifact(db, { tag: "child", parent });
    const service = aService(db);
    const { id: ofParent } = await service.submit({ artifact: "parent" });
    await service.advance();
    await db.run(sql`
      update benchmark_job set state = 'success', started_at = created_at, ended_at = created_at
      where benchmark_set = 1
    `);
    const { id: ofChild } = await service.submit({ artifact: "child" });
    await service.advance();

    await cancelRequest(service.services, ofParent, "ada", nothing);
    await service.advance();

    expect(await stateOf(ofChild)).toBe("in-progress");
    expect(await jobStates(ofChild)).toEqual(["queued", "success"]);
    await endJobs(db, ofChild);
    await service.advance();
    expect(await stateOf(ofChild)).toBe("completed");
  });
});

describe("repeating", () => {
  test("a failed request makes a request for the missing results", async () => {
    const { service, id, artifact } = await measuring();
    await endJobs(db, id, "failure", undefined, sql`section = 'runtime'`);
    await endJobs(db, id);
    await measureAll(db, artifact.id, "js", { without: "runtime" });
    await service.advance();
    expect(await requestSummaries(db, [id])).toMatchObject([
      { state: "completed", jobs: { total: 10, failed: 2 } },
    ]);

    const again = await retryRequest(service.services, id, "ada", nothing);
    await service.advance();

    const [summary] = await requestSummaries(db, [again.id]);
    expect(summary).toMatchObject({ state: "in-progress", jobs: { total: 10, ended: 8 } });
    expect(summary?.because).toContain("2 jobs that failed");
    expect(await stateOf(id)).toBe("completed");
  });

  test("a request in progress is refused", async () => {
    const { service, id } = await measuring();

    await expect(retryRequest(service.services, id, "ada", nothing)).rejects.toThrow(/in-progress/);
  });

  test("by two clients at the same time makes one request", async () => {
    const { service, id } = await measuring();
    await cancelRequest(service.services, id, "ada", nothing);

    const answers = await Promise.all([
      retryRequest(service.services, id, "ada", nothing),
      retryRequest({ ...service.services, db: otherDb }, id, "bob", nothing),
    ]);

    expect(new Set(answers.map((each) => each.id)).size).toBe(1);
  });
});

describe("a request that waits for its artifacts", () => {
  const digest = `${"a".repeat(64)}/3`;

  test("is ready when a client names their place, and a second message has no effect", async () => {
    await storeSuite(db);
    const service = aService(db);
    const { id } = await service.submit({ artifact: "mine", waitForArtifacts: true });
    await service.advance();
    expect(await stateOf(id)).toBe("waiting-for-artifacts");

    await artifactsReady(service.services, id, { js: digest }, nothing);
    await artifactsReady(service.services, id, { js: digest }, nothing);
    await service.advance();

    expect(await stateOf(id)).toBe("in-progress");
  });

  test("is not ready without the place of the artifacts, or without their bytes", async () => {
    await storeSuite(db);
    const service = aService(db);
    service.missing.add(digest);
    const { id } = await service.submit({ artifact: "mine", waitForArtifacts: true });

    await expect(artifactsReady(service.services, id, {}, nothing)).rejects.toThrow(/tarball/);
    await expect(artifactsReady(service.services, id, { js: digest }, nothing)).rejects.toThrow(
      /upload/,
    );
    expect(await stateOf(id)).toBe("waiting-for-artifacts");
  });
});

describe("jobs that ended a month ago", () => {
  const later = new Date("2026-08-01T00:00:00Z");

  test("are removed, their counts stay, and a repeated request measures nothing twice", async () => {
    const { service, id, artifact } = await measuring();
    await endJobs(db, id, "failure", undefined, sql`optional`);
    await endJobs(db, id);
    await measureAll(db, artifact.id);
    await service.advance();
    const [before] = await requestSummaries(db, [id]);

    expect(await removeOldJobs(db, later)).toBe(10);

    expect((await requestSummaries(db, [id]))[0]).toEqual(before);
    const again = await service.submit({ artifact: "a" });
    await service.advance();
    expect(await requestSummaries(db, [again.id])).toMatchObject([
      { state: "completed", jobs: { total: 10, ended: 10, failed: 0 } },
    ]);
  });

  test("stay while their request waits for other jobs", async () => {
    const { id } = await measuring();
    await endJobs(db, id, "success", undefined, sql`section = 'runtime'`);

    expect(await removeOldJobs(db, later)).toBe(0);
  });

  test("are removed once, even if two servers do it", async () => {
    const { service, id } = await measuring();
    await endJobs(db, id);
    await service.advance();

    const removed = await Promise.all([removeOldJobs(db, later), removeOldJobs(otherDb, later)]);

    expect(removed.reduce((a, b) => a + b)).toBe(10);
  });
});
