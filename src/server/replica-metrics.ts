import type { SeenReplica } from "#db/read-replicas.ts";
import type { MetricFamily } from "./http/metrics-text.ts";
import type { ReplicaReads } from "./http/read-from-replica.ts";
import { counter, gauge } from "./metric-family.ts";

/** Returns the families of the read replicas of this server's database, without samples when it has none. */
export function replicaFamilies(seen: readonly SeenReplica[], reads: ReplicaReads): MetricFamily[] {
  return [
    gauge(
      "grange_replica_usable",
      seen.map(({ place, standing }) => ({
        labels: { replica: place },
        value: standing.kind === "replaying" ? 1 : 0,
      })),
    ),
    gauge(
      "grange_replica_behind_seconds",
      seen.flatMap(({ place, standing }) =>
        standing.kind === "replaying" && standing.hasAllUntilMs !== undefined
          ? [
              {
                labels: { replica: place },
                value: (standing.checkedAtMs - standing.hasAllUntilMs) / 1_000,
              },
            ]
          : [],
      ),
    ),
    counter(
      "grange_replica_reads",
      seen.length === 0
        ? []
        : Object.entries(reads).map(([from, value]) => ({ labels: { from }, value })),
    ),
  ];
}
