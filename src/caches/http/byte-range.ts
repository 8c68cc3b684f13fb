/** The bytes from `start` up to, and without, `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the single range that a `Range` header requests (RFC 9110, section 14).
 *
 * "all" for no header, for several ranges and for a malformed one: a server may ignore those.
 */
export function spanRequested(
  header: string | undefined,
  sizeBytes: number,
): Span | "all" | "unsatisfiable" {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  if (match === null) return "all";
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return "all";
  if (from === "") {
    const start = Math.max(0, sizeBytes - Number(to));
    return Number(to) === 0 || sizeBytes === 0 ? "unsatisfiable" : { start, end: sizeBytes };
  }
  const start = Number(from);
  const end = to === "" ? sizeBytes : Math.min(Number(to) + 1, sizeBytes);
  if (to !== "" && Number(to) < start) return "all";
  return start >= sizeBytes ? "unsatisfiable" : { start, end };
}
