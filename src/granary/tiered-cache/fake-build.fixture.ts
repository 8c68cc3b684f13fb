import { randomUUID } from "node:crypto";
import { keyText, type ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { Build, BuildRegistry, Prefetch, ResultRequest } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";

/** A build that only records its calls. */
interface FakeBuild extends Build {
  readonly requests: (ResultRequest & { readonly key: ResultKey })[];
  readonly blobsRequested: Digest[];
  readonly results: GranaryResult[];
  /** The number of pauses of prefetching. */
  readonly pausedForForeground: { begun: number; ended: number };
}

export function fakeBuild(
  more: {
    readonly id?: string;
    readonly project?: string;
    readonly environment?: string;
    readonly prefetch?: Partial<Prefetch>;
    readonly mayBeAtFarm?: (key: ResultKey) => boolean;
  } = {},
): FakeBuild {
  const requests: FakeBuild["requests"] = [];
  const blobsRequested: Digest[] = [];
  const results: GranaryResult[] = [];
  const pausedForForeground = { begun: 0, ended: 0 };
  return {
    id: more.id ?? randomUUID(),
    project: more.project ?? "p",
    environment: more.environment ?? "e",
    prefetch: more.prefetch && {
      coming: () => undefined,
      leadMs: () => undefined,
      whyNot: () => "not-indexed",
      pauseForForeground() {
        pausedForForeground.begun++;
        return () => {
          pausedForForeground.ended++;
        };
      },
      hint() {},
      ...more.prefetch,
    },
    mayBeAtFarm: more.mayBeAtFarm ?? (() => true),
    asked: (key, what) => void requests.push({ key, ...what }),
    requestedBlob: (digest) => void blobsRequested.push(digest),
    made: (result) => void results.push(result),
    requests,
    blobsRequested,
    results,
    pausedForForeground,
  };
}

export function fakeService(builds: readonly Build[]): BuildRegistry {
  return {
    find: (id) => builds.find((build) => build.id === id),
    only(project) {
      const ofProject = builds.filter((build) => build.project === project);
      return ofProject.length === 1 ? ofProject[0] : undefined;
    },
    environmentOf: async () => "e",
  };
}

/** Returns the recorded calls of a build in a short form: `source because key`, without the environment of the key. */
export function told(build: FakeBuild): string[] {
  return build.requests.map(({ source, because, key }) =>
    [source, because, keyText({ ...key, key: key.key.replace(/^[0-9a-f]{16}\//, "") })]
      .filter((word) => word !== undefined)
      .join(" "),
  );
}
