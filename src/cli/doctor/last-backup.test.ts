import { expect, test } from "vitest";
import type { Backup } from "#api/backup.ts";
import { findingOfBackup } from "./last-backup.ts";

const now = new Date("2026-05-10T12:00:00Z");

function backup(change: Partial<Backup>): Backup {
  return {
    startedAt: "2026-05-10T08:59:00Z",
    finishedAt: "2026-05-10T09:00:00Z",
    directory: "/mnt/backup",
    host: "farm",
    databaseBytes: 1,
    blobs: 1,
    blobBytes: 1,
    copiedBytes: 1,
    damagedBlobs: 0,
    ...change,
  };
}

test.each([
  { last: undefined, status: "warn", detail: /no backup/ },
  { last: backup({}), status: "ok", detail: /^3 h old, in \/mnt\/backup on farm$/ },
  { last: backup({ finishedAt: "2026-05-08T13:00:00Z" }), status: "ok", detail: /^47 h/ },
  { last: backup({ finishedAt: "2026-05-08T12:00:00Z" }), status: "warn", detail: /^2 days/ },
  { last: backup({ damagedBlobs: 2 }), status: "warn", detail: /without 2 blobs/ },
])("a last backup $last.finishedAt is $status", ({ last, status, detail }) => {
  const finding = findingOfBackup(last, now);

  expect(finding.status).toBe(status);
  expect(finding.detail).toMatch(detail);
});
