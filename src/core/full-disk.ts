/** The codes of the operating system and of PostgreSQL (`disk_full`) for a disk or a quota without space. */
const codes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "53100"]);

/** Returns whether a failure, or one of its causes, is a full disk. */
export function isFullDisk(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause) {
    if ("code" in each && codes.has(each.code)) return true;
  }
  return false;
}
