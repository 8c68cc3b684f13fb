import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import {
  aKnownArtifact,
  aService,
  aSource,
  jobsIn,
  measureAll,
  requestsIn,
} from "./requests.fixture.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
beforeEach(() => emptyLab(db));

const requests = () => requestsIn(db);

describe("a request that cannot be measured is refused, and the error names what exists", () => {
  test.each([
    { title: "a suite", request: { artifact: "a", suite: "else" }, says: /no suite "else".*demo/ },
    { title: "a backend", request: { artifact: "a", backends: ["wasm"] }, says: /js, native/ },
    { title: "a profile", request: { artifact: "a", profiles: ["doc"] }, says: /check, emit/ },
    { title: "a target", request: { artifact: "a", targets: ["vax"] }, says: /linux-x64/ },
    { title: "a benchmark", request: { artifact: "a", benchmarks: ["x"] }, says: /alpha, beta/ },
    {
      title: "a backend that the artifact does not have",
      request: { artifact: "js-only", backends: ["native"] },
      says: /it has js/,
    },
  ])("$title", async ({ request, says }) => {
    await storeSuite(db);
    await storeArtifact(db, { tag: "a" });
    await storeArtifact(db, { tag: "js-only", backends: ["js"] });

    await expect(aService(db).submit(request)).rejects.toThrow(says);
    expect(await requests()).toEqual([]);
  });
});

describe("an unknown tag", () => {
  const sourced = aSuite({ artifacts: { from: "npm" } });

  test("is read from the source, with its line", async () => {
    await storeSuite(db, sourced);
    const source = aSource([
      aKnownArtifact("n-1"),
      aKnownArtifact("n-2", { parent: "n-1", datedAt: new Date("2026-06-02T00:00:00Z") }),
    ]);

    const answered = await aService(db, { source }).submit({ artifact: "n-2" });

    expect(answered).toMatchObject({ outcome: "created", parents: ["n-1"] });
    expect(source.asked).toBe(1);
  });

  test("is measured under the name that the source has for it, for example the complete commit id", async () => {
    await storeSuite(db, sourced);
    const [whole, parent] = ["8b7c0406f557983be48c", "1f0a77e6c2d4b1a09f3e"];
    const source = aSource([
      aKnownArtifact(parent.slice(0, 12)),
      aKnownArtifact(whole.slice(0, 12), { datedAt: new Date("2026-06-02T00:00:00Z") }),
    ]);

    await aService(db, { source }).submit({ artifact: whole, parent, parents: "none" });

    expect(await requests()).toMatchObject([{ tag: whole.slice(0, 12) }]);
  });

  test("is measured without its parent on request, and then names no parent", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "p" });
    await storeArtifact(db, { tag: "c", parent });
    const service = aService(db);

    await service.submit({ artifact: "c", parents: "alone" });
    await service.advance();

    const jobs = await jobsIn(db);
    expect(new Set(jobs.map(({ tag, purpose }) => `${tag} ${purpose}`))).toEqual(
      new Set(["c own"]),
    );
    await expect(service.submit({ artifact: "c", parents: "alone", parent: "p" })).rejects.toThrow(
      /alone has no parent/,
    );
  });

  test("is refused when the source does not know it either; repeated requests read the source once", async () => {
    await storeSuite(db, sourced);
    const service = aService(db, { source: aSource([]) });

    const answers = await Promise.allSettled([
      service.submit({ artifact: "no" }),
      service.submit({ artifact: "no" }),
      service.submit({ artifact: "nor-this" }),
    ]);
    await expect(service.submit({ artifact: "no" })).rejects.toThrow(/the source has no no/);

    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(service.source.asked).toBe(1);
    service.clock.pass(60_000);
    await expect(service.submit({ artifact: "no" })).rejects.toThrow(/the source has no/);
    expect(service.source.asked).toBe(2);
  });

  test("is refused with the source's error while it does not answer, and is read once", async () => {
    await storeSuite(db, sourced);
    const source = aSource([]);
    source.fails = "npm is away";
    const service = aService(db, { source });

    await expect(service.submit({ artifact: "a" })).rejects.toThrow("npm is away");
    await expect(service.submit({ artifact: "b" })).rejects.toThrow("npm is away");
    expect(source.asked).toBe(1);
  });

  test("with a waiting request is ready when another request finds it", async () => {
    await storeSuite(db, sourced);
    const service = aService(db, { source: aSource([aKnownArtifact("5.9.3", { kind: "try" })]) });
    await service.submit({ artifact: "5.9.3", waitForArtifacts: true });

    const answered = await service.submit({ artifact: "5.9.3" }, "bob");

    expect(answered.outcome).toBe("nothing-missing");
    expect(await requests()).toMatchObject([{ state: "artifacts-ready" }]);
  });

  test("of a suite without a source needs tarballs", async () => {
    await storeSuite(db);

    await expect(aService(db).submit({ artifact: "no" })).rejects.toThrow(/tarball/);
  });
});

test("a comparison of an artifact with itself is refused", async () => {
  await storeSuite(db);
  await storeArtifact(db, { tag: "a" });

  await expect(aService(db).submit({ artifact: "a", parent: "a" })).rejects.toThrow(
    "a cannot be compared with itself",
  );
  expect(await requests()).toEqual([]);
});

describe("a try build", () => {
  const digest = `${"a".repeat(64)}/3`;

  test("is compared with the head of the main line", async () => {
    await storeSuite(db);
    const parent = await storeArtifact(db, { tag: "main-1" });
    await measureAll(db, parent.id);

    await aService(db).submit({ artifact: "mine", tarballs: { js: digest }, pr: 7 });

    const [row] = await db.many(
      z.object({ kind: z.string(), parent: z.string(), pr: z.number() }),
      sql`
        select r.kind, p.tag as parent, r.pr from benchmark_request as r
        join benchmark_artifact as p on p.id = r.parent_id
      `,
    );
    expect(row).toEqual({ kind: "try", parent: "main-1", pr: 7 });
  });

  test("needs its bytes", async () => {
    await storeSuite(db);
    const service = aService(db);
    service.missing.add(digest);

    await expect(service.submit({ artifact: "mine", tarballs: { js: digest } })).rejects.toThrow(
      /upload/,
    );
  });

  test("keeps its bytes: the same tag with other bytes is refused", async () => {
    await storeSuite(db);
    const service = aService(db);
    await service.submit({ artifact: "mine", tarballs: { js: digest } });

    await expect(
      service.submit({ artifact: "mine", tarballs: { js: `${"b".repeat(64)}/3` } }),
    ).rejects.toThrow(/another tag for your build/);
  });

  test("can wait for artifacts that are not built yet", async () => {
    await storeSuite(db);

    await aService(db).submit({ artifact: "mine", waitForArtifacts: true });

    expect(await requests()).toMatchObject([{ tag: "mine", state: "waiting-for-artifacts" }]);
  });
});
