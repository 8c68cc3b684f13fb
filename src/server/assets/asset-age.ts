/** Content that was downloaded without a checksum is used for this time: the origin may have other content by then. */
export const uncheckedForMs = 86_400_000;

/** What is stored with an entry, besides the digest. */
export interface AssetRecord {
  readonly origin: "pushed" | "fetched";
  /** When it was pushed, or when the download began. */
  readonly storedAtMs: number;
  /** Only of pushed content. */
  readonly expiresAtMs: number | undefined;
}

/** Returns whether stored content may still be returned. `oldestMs`: what the client accepts. */
export function isUsable(
  { origin, storedAtMs, expiresAtMs }: AssetRecord,
  request: {
    readonly nowMs: number;
    readonly oldestMs: number | undefined;
    readonly hasChecksum: boolean;
  },
): boolean {
  if (request.oldestMs !== undefined && storedAtMs < request.oldestMs) return false;
  switch (origin) {
    case "pushed":
      return expiresAtMs === undefined || request.nowMs < expiresAtMs;
    case "fetched":
      return request.hasChecksum || request.nowMs - storedAtMs < uncheckedForMs;
  }
}

/** The record as attributes of a cache entry. */
export function attributesOf({ origin, storedAtMs, expiresAtMs }: AssetRecord) {
  return {
    origin,
    "stored-at": new Date(storedAtMs).toISOString(),
    ...(expiresAtMs === undefined ? {} : { "expires-at": new Date(expiresAtMs).toISOString() }),
  };
}

export function recordOf(attributes: Readonly<Record<string, string>>): AssetRecord {
  const { origin, "stored-at": storedAt = "", "expires-at": expiresAt } = attributes;
  return {
    origin: origin === "pushed" ? "pushed" : "fetched",
    storedAtMs: Date.parse(storedAt),
    expiresAtMs: expiresAt === undefined ? undefined : Date.parse(expiresAt),
  };
}
