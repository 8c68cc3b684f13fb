import { beforeEach, describe, expect, test } from "vitest";
import type { z } from "zod";
import { AddCollector, type ChangeToConfirm } from "#api/collector.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { addCollector } from "../collectors/change-register.ts";
import { emptyLab, storeArtifact } from "../perf.fixture.ts";
import type { RequestHooks } from "./request-hooks.ts";
import { endAbandonedJobs } from "./request-job.store.ts";
import { aPair, aService, endJobs, jobsIn, measureAll, statesIn } from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
beforeEach(() => emptyLab(db));

const jobs = (meant = sql`true`) => jobsIn(db, meant);
const states = () => statesIn(db);

describe("a request ends", () => {
  const started = async (hooks?: RequestHooks) => {
    const { parent, child } = await aPair(db);
    await measureAll(db, parent.id);
    const service = aService(db, hooks === undefined ? {} : { hooks });
    const { id } = await service.submit({ artifact: "child" });
    await service.advance();
    return { service, id, child };
  };

  test("when all required jobs have ended; optional jobs with a collector continue", async () => {
    const { service, id } = await started();
    const register = AddCollector.parse({ name: "arm", target: "linux-arm64", set: null });
    await db.transaction((tx) => addCollector(tx, register, "tester", service.clock.now()));

    await endJobs(db, id, "success", undefined, sql`not optional`);
    await service.advance();

    expect(await states()).toEqual({ child: "completed" });
    expect(await jobs(sql`optional and state = 'queued'`)).toHaveLength(5);
  });

  test("together with optional jobs without a collector", async () => {
    const { service, id } = await started();

    await endJobs(db, id, "success", undefined, sql`not optional`);
    await service.advance();

    expect(await jobs(sql`optional and state = 'queued'`)).toEqual([]);
    expect(await jobs(sql`optional and state = 'cancelled'`)).toHaveLength(5);
  });

  test("and optional jobs that no collector took for a month end, too", async () => {
    const { service, id } = await started();
    const register = AddCollector.parse({ name: "arm", target: "linux-arm64", set: null });
    await db.transaction((tx) => addCollector(tx, register, "tester", service.clock.now()));
    await endJobs(db, id, "success", undefined, sql`not optional`);
    await service.advance();
    const now = service.clock.now().getTime();

    expect(await endAbandonedJobs(db, new Date(now - 1_000), new Date(now))).toBe(0);
    expect(await endAbandonedJobs(db, new Date(now + 1_000), new Date(now + 2_000))).toBe(5);
    expect(await jobs(sql`state = 'queued'`)).toEqual([]);
  });

  test("not before all required jobs have ended", async () => {
    const { service, id } = await started();

    await endJobs(db, id, "success", undefined, sql`not optional and section = 'compile'`);
    await service.advance();

    expect(await states()).toEqual({ child: "in-progress" });
  });

  test("as failed when none of its own jobs succeeded", async () => {
    const { service, id } = await started();

    await endJobs(db, id, "failure");
    await service.advance();

    expect(await states()).toEqual({ child: "failed" });
  });

  test("and the next one starts in the same transaction", async () => {
    const { service, id } = await started();
    await storeArtifact(db, { tag: "next" });
    await service.submit({ artifact: "next" });

    await endJobs(db, id);
    await service.advance();

    expect(await states()).toEqual({ child: "completed", next: "in-progress" });
  });

  test("after doubtful results were measured again, once, with one report", async () => {
    const doubt: z.infer<typeof ChangeToConfirm> = {
      case: {
        section: "compile",
        benchmark: "gamma",
        profile: "check",
        scenario: "full",
        backend: "js",
        target: "linux-x64",
      },
      metric: "wall-time",
      direction: "regressed",
    };
    const reports: string[] = [];
    const { service, id } = await started({
      changesToConfirm: async () => [
        doubt,
        { ...doubt, case: { ...doubt.case, scenario: "incremental" } },
      ],
      makeReport: async (_, request) => {
        reports.push(request);
      },
    });
    await endJobs(db, id);
    await service.advance();
    expect(await states()).toEqual({ child: "in-progress" });
    expect(await jobs(sql`purpose = 'confirm'`)).toMatchObject([{ set: 1, state: "queued" }]);
    expect(reports).toEqual([]);

    await endJobs(db, id);
    await Promise.all([service.advance(), service.advance()]);

    expect(await states()).toEqual({ child: "completed" });
    expect(reports).toEqual([id]);
  });

  test("after some tries even if its report cannot be made, with a line in the log", async () => {
    let tries = 0;
    const { service, id } = await started({
      changesToConfirm: async () => [],
      makeReport: async () => {
        tries++;
        throw new Error("no report today");
      },
    });
    await endJobs(db, id);

    for (let i = 0; i < 3; i++) await service.advance();
    expect(await states()).toEqual({ child: "in-progress" });
    await service.advance();

    expect(tries).toBe(3);
    expect(await states()).toEqual({ child: "completed" });
    expect(service.logged.join()).toContain("ended without its report");
  });

  test("permanently: the database refuses to open it again", async () => {
    const { service, id } = await started();
    await endJobs(db, id);
    await service.advance();

    const reopened = db.run(
      sql`update benchmark_request set state = 'in-progress', ended_at = null where id = ${id}`,
    );

    await expect(reopened).rejects.toThrow(/stays so/);
  });
});
