/** An attempted update: its old and new versions. */
interface UpdateTried {
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
}

interface UpdateRequested {
  readonly own: string;
  readonly server: string;
  /** The request of its last job. */
  readonly current: string | undefined;
  /** The request of its next job; undefined: none. */
  readonly next: string | undefined;
  readonly tried: UpdateTried | undefined;
  readonly nowMs: number;
}

/** An update without effect is retried after this time; meanwhile the old version measures. */
const againMs = 60 * 60_000;

/**
 * Returns whether the collector should stop for an update now: between requests, never inside one. All figures of a
 * request come from one version, unless the collector is stopped.
 */
export function endsForUpdate({
  own,
  server,
  current,
  next,
  tried,
  nowMs,
}: UpdateRequested): boolean {
  if (own === server) return false;
  if (next !== undefined && next === current) return false;
  const wasTried = tried?.from === own && tried.to === server && nowMs - tried.atMs < againMs;
  return !wasTried;
}
