import { join } from "node:path";
import type { Logger } from "pino";
import { openArtifactCache } from "#artifacts/artifact-cache.ts";
import { environmentFacts } from "#measuring/environment/facts.ts";
import { sampleLoad } from "#measuring/environment/load.ts";
import { measurePairs } from "#measuring/measure-pairs.ts";
import { measureTest } from "#measuring/measure-test.ts";
import { openWorkPlace } from "#measuring/work-place.ts";
import type { CollectorOperations } from "./collector-operations.ts";
import type { CollectorConfig } from "./config.ts";
import { endLeftovers } from "./end-leftovers.ts";
import type { LabConnection } from "./lab-connection.ts";

/** Returns the machine on which this process runs. */
export async function thisMachine(
  { dataDir, artifactLimitBytes, privateHosts, sandbox }: CollectorConfig,
  lab: Pick<LabConnection, "fetchBlob">,
  logger: Logger,
): Promise<CollectorOperations> {
  const cache = await openArtifactCache({
    directory: join(dataDir, "artifacts"),
    limitBytes: artifactLimitBytes,
    privateHosts,
    fetchBlob: (digest, signal) => lab.fetchBlob(digest, signal),
  });
  const place = await openWorkPlace({
    directory: join(dataDir, "place"),
    cache,
    sandbox,
    tell: (sentence) => logger.warn(sentence),
  });
  return {
    endLeftovers,
    facts: async () => environmentFacts(place.tools),
    load: (sampleMs, signal) => sampleLoad(sampleMs, signal),
    place: (suite, backend, component, signal) => cache.place(suite, backend, component, signal),
    release: (placed) => cache.release(placed),
    measureTest: (suite, testCase, artifact, signal, wanted) =>
      measureTest({
        suite,
        case: testCase,
        artifact,
        place,
        signal,
        ...(wanted && {
          iterations: { counted: wanted.counted, timed: wanted.timed },
          after: wanted.after,
        }),
      }),
    measurePairs: (wanted) => measurePairs({ ...wanted, place }),
    close: () => place.close(),
  };
}
