/** How often, and how many at the same time, one caller may make the requests of a kind. */
export interface RequestLimit {
  readonly what: string;
  /** `address`: nobody is known yet. `caller`: a principal at an address; the address alone without a token. */
  readonly countedBy: "address" | "caller";
  /** In the long run; absent: no limit. Up to `burst` of them may come at once. */
  readonly perMinute?: number;
  readonly burst?: number;
  readonly atOnce?: number;
}

/**
 * The limits of a server for one caller. They stop a caller that would take a server from all others; a large CI stays far
 * below them. `GRANGE_REQUEST_LIMITS` multiplies them.
 */
export const requestLimits = {
  "sign-in": {
    what: "sign-in by token, code or provider",
    countedBy: "address",
    perMinute: 120,
    burst: 60,
    atOnce: 16,
  },
  "wrong-tokens": {
    what: "different tokens that are unknown, expired or revoked; above it, only tokens that the server has seen valid are accepted",
    countedBy: "address",
    perMinute: 60,
    burst: 60,
  },
  tokens: {
    what: "creation of tokens, enrolments and share links, enrolment of machines",
    countedBy: "caller",
    perMinute: 300,
    burst: 300,
    atOnce: 16,
  },
  submissions: {
    what: "submissions of graphs and of benchmark requests",
    countedBy: "caller",
    perMinute: 6_000,
    burst: 3_000,
    atOnce: 200,
  },
  searches: {
    what: "searches, previews and comparisons",
    countedBy: "caller",
    perMinute: 1_200,
    burst: 600,
    atOnce: 32,
  },
  uploads: {
    what: "uploads of blobs, cache entries and tarballs",
    countedBy: "caller",
    atOnce: 2_000,
  },
  streams: { what: "streams of events", countedBy: "caller", atOnce: 1_000 },
  calls: { what: "gRPC calls", countedBy: "caller", atOnce: 4_000 },
} as const satisfies Record<string, RequestLimit>;

export type LimitName = keyof typeof requestLimits;
