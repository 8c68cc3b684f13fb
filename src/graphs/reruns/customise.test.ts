import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody, type Principal } from "#access/principal.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { setBranchDefinition } from "../catalogs/branch-definition.store.ts";
import { failing, farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const jobs = [
  "  a: {commands: 'run-a # MARK', environment: {LANG: C, TZ: UTC}, tags: {suite: unit}}",
  "  b: {commands: 'run-b # MARK', needs: [a]}",
].join("\n");

describe("a job that has not started", () => {
  test("is customised: marked, with the difference, and it runs in that form", async () => {
    const id = await farm.graphOf(jobs);
    const patch = { commands: ["other-a"], environment: { LANG: "en", TZ: null } };

    const done = await farm.customise(id, { job: "a", patch, reason: "to see why" });
    const scripts = await farm.work();

    expect(scripts[0]).toContain("other-a");
    expect(done?.changes).toEqual([
      { path: "commands", was: [expect.stringContaining("run-a")], is: ["other-a"] },
      { path: "environment.LANG", was: "C", is: "en" },
      { path: "environment.TZ", was: "UTC" },
    ]);
    const { job, origin } = await farm.job(id, "a");
    expect(job.customised).toBe(true);
    expect(origin).toMatchObject({ patch, changes: done?.changes });
    expect(origin.audit).toMatchObject([{ verb: "customise", reason: "to see why" }]);
    expect((await farm.job(id, "b")).job.customised).toBe(false);
  });

  test("has its original definition again when the patch is undone", async () => {
    const id = await farm.graphOf(jobs);
    const before = (await farm.job(id, "a")).definition;

    await farm.customise(id, { job: "a", patch: { tags: { suite: "other" } } });
    expect((await farm.job(id, "a")).job.tags).toEqual({ suite: "other" });
    expect((await farm.graph(id)).customised).toBe(1);
    await farm.customise(id, { job: "a", patch: null });

    const { job, definition, origin } = await farm.job(id, "a");
    expect(job).toMatchObject({ customised: false, tags: { suite: "unit" } });
    expect((await farm.graph(id)).customised).toBe(0);
    expect(definition).toEqual(before);
    expect(origin).toMatchObject({ patch: null, template: null, changes: [] });
  });

  test("is not changed by a dry run, nor by a patch without effect", async () => {
    const id = await farm.graphOf(jobs);

    const shown = await farm.customise(id, {
      job: "a",
      patch: { timeout: "2h" },
      dryRun: true,
    });
    await farm.customise(id, { job: "a", patch: { environment: { LANG: "C" } } });

    expect(shown?.changes).toEqual([{ path: "timeout", is: "2h" }]);
    expect((await farm.job(id, "a")).job.customised).toBe(false);
  });
});

test("values of secret variables are never shown, also when they are changed", async () => {
  const id = await farm.graphOf(
    "  a: {commands: 'run-a # MARK', environment: {NPM_TOKEN: npm_FIRST, LANG: C}}",
  );
  const patch = { environment: { NPM_TOKEN: "npm_SECOND", LANG: "en" } };

  const done = await farm.customise(id, { job: "a", patch });

  const shown = JSON.stringify([done, await farm.job(id, "a")]);
  expect(shown).not.toMatch(/npm_FIRST|npm_SECOND/);
  expect(done?.changes).toEqual([
    { path: "environment.LANG", was: "C", is: "en" },
    { path: "environment.NPM_TOKEN", was: "[hidden]", is: "[hidden]" },
  ]);
  const { origin } = await farm.job(id, "a");
  const again = { job: "a", patch: origin.patch, after: origin.revision };
  await expect(farm.customise(id, again)).rejects.toThrow("the value of NPM_TOKEN is not shown");
});

test("a job that has run is customised together with a retrigger", async () => {
  const id = await farm.graphOf(jobs);
  await farm.work(failing("run-a"));
  const asked = { job: "a", patch: { commands: ["mended"] } };

  await expect(farm.customise(id, asked)).rejects.toThrow("together with a retrigger");
  const done = await farm.customise(id, { ...asked, retrigger: true });
  await farm.work(failing("run-a"));

  expect(done?.rerun?.jobs.map(({ job, does }) => [job, does])).toEqual([
    ["a", "runs"],
    ["b", "is revived"],
  ]);
  expect(await farm.states(id)).toEqual({ a: "succeeded", b: "succeeded" });
});

test("a job that is being prepared runs with its customisation", async () => {
  const id = await farm.graphOf(jobs);
  await farm.customise(id, { job: "a", patch: { commands: ["first-thought"] } });

  await farm.customise(id, { job: "a", patch: { commands: ["second-thought"] }, after: 1 });
  const scripts = await farm.work();

  expect(scripts[0]).toContain("second-thought");
});

test.each([
  { patch: { kind: "join" }, says: "the kind of a job cannot be changed" },
  { patch: { needs: [] }, says: "the edges of a graph are fixed" },
  { patch: { timout: "2h" }, says: 'did you mean "timeout"?' },
  { patch: { timeout: 3 }, says: 'must be a duration such as "10m"' },
  { patch: { commands: null }, says: 'a job needs "commands"' },
])("the patch $patch is refused: $says", async ({ patch, says }) => {
  const id = await farm.graphOf(jobs);

  await expect(farm.customise(id, { job: "a", patch })).rejects.toThrow(says);
});

test("a job continues to make the outputs that others use by name", async () => {
  const id = await farm.graphOf(
    "  a: {commands: 'run-a # MARK', outputs: [dist, log]}\n" +
      "  b: {commands: 'run-b # MARK', needs: {a: {outputs: [dist/app]}}}",
  );

  await farm.customise(id, { job: "a", patch: { outputs: ["dist"] } });

  await expect(
    farm.customise(id, { job: "a", patch: { outputs: ["log"] }, after: 1 }),
  ).rejects.toThrow('b uses "dist/app" of it');
});

describe("when several people customise one job", () => {
  test("of six simultaneous changes, one is accepted, and the others get its differences", async () => {
    const id = await farm.graphOf(jobs);

    const answers = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) =>
        farm.customise(id, {
          job: "a",
          patch: { environment: { V: `${n}` } },
          reason: `number ${n}`,
        }),
      ),
    );

    const taken = answers.findIndex(({ status }) => status === "fulfilled");
    const refused = answers.filter((answer) => answer.status === "rejected");
    expect(refused).toHaveLength(5);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        code: "aborted",
        message: expect.stringMatching(
          `has customised a \\("number ${taken}"\\), revision 1: environment\\.V: "${taken}"; send "after": 1`,
        ),
      });
    }
    expect((await farm.job(id, "a")).origin).toMatchObject({
      patch: { environment: { V: `${taken}` } },
      revision: 1,
    });
  });

  test("a change based on an older revision is rejected, also as a preview or an undo", async () => {
    const id = await farm.graphOf(jobs);
    await farm.customise(id, { job: "a", patch: { timeout: "2h" }, after: 0 });
    await farm.customise(id, { job: "a", patch: { timeout: "3h" }, after: 1 });

    const late = { job: "a", after: 1 };
    for (const asked of [
      { ...late, patch: { retries: 2 } },
      { ...late, patch: { retries: 2 }, dryRun: true },
      { ...late, patch: { retries: 2 }, retrigger: true },
      { ...late, patch: null },
    ]) {
      await expect(farm.customise(id, asked)).rejects.toThrow(
        'revision 2: timeout: "3h"; your change is based on revision 1',
      );
    }

    const done = await farm.customise(id, { job: "a", patch: null, after: 2 });
    expect(done).toMatchObject({ patch: null, revision: 3 });
    await expect(farm.customise(id, { job: "a", patch: { retries: 2 }, after: 2 })).rejects.toThrow(
      "it is as its definition says again",
    );
  });

  test("the same patch again is no conflict: a client whose answer was lost may repeat it", async () => {
    const id = await farm.graphOf(jobs);
    const asked = { job: "a", patch: { timeout: "2h" }, after: 0 };

    await farm.customise(id, asked);

    expect(await farm.customise(id, asked)).toMatchObject({ patch: asked.patch });
  });

  test("a change at submission counts", async () => {
    await farm.graphOf(jobs);
    const { id } = await farm.submit({ patches: { a: { retries: 3 } } });

    await expect(farm.customise(id, { job: "a", patch: { timeout: "2h" } })).rejects.toThrow(
      "the submission has customised a, revision 1: retries: 3",
    );
  });
});

describe("is rejected", () => {
  const asked = { job: "a", patch: { timeout: "2h" } };

  test("a patch of a job that its definition protects", async () => {
    const id = await farm.graphOf("  a: {commands: 'run-a # MARK', protect: true}");

    await expect(farm.customise(id, asked)).rejects.toThrow("the definition of a forbids changes");
  });

  test("a patch by a principal without the grant", async () => {
    const id = await farm.graphOf(jobs);
    const bob: Principal = {
      name: "bob",
      grants: everybody.grants.map((grant) => ({ ...grant, verb: "retrigger" })),
    };

    await expect(farm.customise(id, asked, bob)).rejects.toMatchObject({
      code: "permission_denied",
    });
  });

  test.each([
    { body: { protected: true }, says: "is protected and runs definitions as they were signed" },
    { body: { customisable: false }, says: "the settings of main" },
  ])(
    "a patch on a branch that says $body, also at submission and by cloning",
    async ({ body, says }) => {
      const id = await farm.graphOf(jobs);
      await farm.customise(id, asked);
      const { repository, branch } = await farm.graph(id);
      await db.transaction((tx) =>
        setBranchDefinition(tx, {
          repository,
          branch,
          body,
          setBy: "root",
          why: undefined,
          after: undefined,
        }),
      );
      try {
        await expect(farm.customise(id, asked)).rejects.toThrow(says);
        await expect(farm.clone(id)).rejects.toMatchObject({ code: "permission_denied" });
        await expect(farm.submit({ patches: { a: asked.patch } })).rejects.toMatchObject({
          code: "permission_denied",
        });
      } finally {
        await db.transaction((tx) =>
          setBranchDefinition(tx, {
            repository,
            branch,
            body: null,
            setBy: "root",
            why: undefined,
            after: undefined,
          }),
        );
      }
    },
  );
});

test("jobs can be customised at submission; all problems are reported at once", async () => {
  await farm.graphOf(jobs);

  const { id } = await farm.submit({ patches: { a: { retries: 3, tags: { suite: "mine" } } } });

  const { job, definition } = await farm.job(id, "a");
  expect(job).toMatchObject({ customised: true, tags: { suite: "mine" } });
  expect(definition).toMatchObject({ retries: 3 });
  await expect(farm.submit({ patches: { other: {}, a: { timout: "2h" } } })).rejects.toMatchObject({
    problems: [
      { message: 'the graph has no job "other"' },
      { message: expect.stringContaining("timout") },
    ],
  });
});

describe("data that are stored beside a definition change with it", () => {
  test("a retry budget that is smaller than its used part", async () => {
    const id = await farm.graphOf("  a: {commands: 'run-a # MARK', retries: 2}");
    await farm.work(failing("run-a"));
    expect(await farm.causes(id, "a")).toEqual(["first", "auto-retry", "auto-retry"]);

    await farm.customise(id, { job: "a", patch: { retries: 1 }, retrigger: true });
    await farm.work(failing("run-a"));

    expect((await farm.causes(id, "a")).slice(3)).toEqual(["retrigger"]);
  });

  test("the workers that run it, and the jobs with which it is coalesced", async () => {
    const id = await farm.graphOf(jobs);

    const patch = { outside: true, coalesce: { key: "unit", "min-depth": 3, "min-age": "1m" } };
    await farm.customise(id, { job: "a", patch });

    expect(await stored(id, "a")).toMatchObject({
      outside: true,
      coalesce: "unit 3 60000",
    });
  });

  test("a longer ttl, but not above the limit of the graph", async () => {
    await farm.graphOf("  a: {commands: 'run-a # MARK', ttl: 1h}");
    const { id } = await farm.submit({ ttl: "2h" });

    await farm.customise(id, { job: "a", patch: { ttl: "5h" } });

    expect((await stored(id, "a"))?.ttlMs).toBe(2 * 3_600_000);
  });
});

async function stored(id: string, job: string) {
  const [row] = await db.many(
    z.object({ outside: z.boolean(), coalesce: z.string(), ttlMs: z.number().nullable() }),
    sql`
      select outside, concat_ws(' ', coalesce_key, coalesce_depth, coalesce_age_ms) as coalesce,
             ttl_ms as "ttlMs"
      from job where graph_id = ${id} and name = ${job}
    `,
  );
  return row;
}
