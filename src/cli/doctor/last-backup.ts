import type { Backup } from "#api/backup.ts";
import { type Finding, ok, warn } from "./check.ts";

const hourMs = 60 * 60_000;
/** On a farm with daily backups, this means that one failed. */
const oldAfterMs = 48 * hourMs;

/** Returns the finding for the age of a farm's last backup. */
export function findingOfBackup(last: Backup | undefined, now: Date): Finding {
  if (last === undefined) return warn("this farm has no backup");
  const ageMs = Math.max(0, now.getTime() - Date.parse(last.finishedAt));
  const age =
    ageMs < 48 * hourMs
      ? `${Math.floor(ageMs / hourMs)} h`
      : `${Math.floor(ageMs / hourMs / 24)} days`;
  const detail = `${age} old, in ${last.directory} on ${last.host}`;
  if (ageMs >= oldAfterMs) return warn(detail);
  if (last.damagedBlobs === 0) return ok(detail);
  return warn(
    `${detail}, without ${last.damagedBlobs} blobs that are damaged in the store`,
    "Check the disk: files of the farm have changed",
  );
}
