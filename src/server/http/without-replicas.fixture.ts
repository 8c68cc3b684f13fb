import type { Db } from "#db/db.ts";
import type { Reading } from "./read-from-replica.ts";

/** A farm whose only database is the primary. */
export function withoutReplicas(primary: Db): Reading {
  return {
    primary,
    replicas: { choose: () => undefined },
    reads: { replica: 0, primary: 0, repeated: 0 },
  };
}
