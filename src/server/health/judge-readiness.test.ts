import { expect, test } from "vitest";
import { judgeReadiness, type ServerState } from "./judge-readiness.ts";

const gibibyte = 1024 ** 3;
const well: ServerState = {
  isDraining: false,
  database: { schema: { newest: 68, needed: 68 }, tookMs: 1.4 },
  knownMigration: 68,
  replicas: [],
  blobs: { freeBytes: 20 * gibibyte },
  workers: 0,
};

test("a server that has all it needs is ready, with or without workers", () => {
  expect(judgeReadiness(well).ready).toBe(true);
  expect(judgeReadiness({ ...well, workers: 3 }).ready).toBe(true);
});

const missing: readonly [string, Partial<ServerState>, string, string][] = [
  ["stops soon", { isDraining: true }, "server", "stopping"],
  ["has no database", { database: { problem: "does not answer" } }, "database", "does not answer"],
  [
    "is older than its database",
    { database: { schema: { newest: 70, needed: 69 }, tookMs: 1 } },
    "migrations",
    "the database needs servers that know migration 69, this server knows 68: update it",
  ],
  ["cannot write blobs", { blobs: { problem: "no space is left" } }, "blobs", "no space is left"],
  ["has little space left", { blobs: { freeBytes: 1024 ** 2 } }, "blobs", "1 MiB free"],
];

test.each(missing)("one that %s is not, and says why", (_, state, name, detail) => {
  const { ready, checks } = judgeReadiness({ ...well, ...state });

  expect(ready).toBe(false);
  expect(checks.filter(({ ok }) => !ok)).toEqual([{ name, ok: false, detail }]);
});

test("a newer schema that works with this server is shown, and the server is ready", () => {
  const database = { schema: { newest: 70, needed: 68 }, tookMs: 1 };

  const { ready, checks } = judgeReadiness({ ...well, database });

  expect(ready).toBe(true);
  expect(checks).toContainEqual({
    name: "migrations",
    ok: true,
    detail: "70, of a newer version; this server knows 68",
  });
});

test("a bucket that does not answer is shown, and no reason to send requests elsewhere", () => {
  const { ready, checks } = judgeReadiness({ ...well, bucket: { problem: "does not answer" } });

  expect(ready).toBe(true);
  expect(checks).toContainEqual({ name: "bucket", ok: false, detail: "does not answer" });
  expect(judgeReadiness({ ...well, bucket: { tookMs: 3.2 } }).checks).toContainEqual({
    name: "bucket",
    ok: true,
    detail: "answered in 3 ms",
  });
});

const replaying = { kind: "replaying", checkedAtMs: 10_000, lagBytes: 0 } as const;

test.each([
  {
    replicas: [{ ...replaying, hasAllUntilMs: 10_000 }],
    ok: true,
    detail: "1 of 1 can be read, at most 0.0 s behind",
  },
  {
    replicas: [
      { ...replaying, hasAllUntilMs: 6_500 },
      { kind: "unusable", problem: "connect ECONNREFUSED 10.0.0.7:5432" } as const,
    ],
    ok: false,
    detail: "1 of 2 can be read, at most 3.5 s behind",
  },
  {
    replicas: [{ ...replaying, hasAllUntilMs: undefined }],
    ok: false,
    detail: "0 of 1 can be read",
  },
])("replicas are shown without their addresses: $detail", ({ replicas, ok, detail }) => {
  const { ready, checks } = judgeReadiness({ ...well, replicas });

  // The primary answers instead.
  expect(ready).toBe(true);
  expect(checks).toContainEqual({ name: "replicas", ok, detail });
});
