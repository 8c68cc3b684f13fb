import { createHash } from "node:crypto";
import type { ResultKey } from "#commit-index/result-key.ts";

const longestKey = 1_024;

/**
 * Returns the key under which a result of an environment is stored and shared: the tool's own key after a digest of the
 * environment's name.
 *
 * Most tools leave something out of their keys that decides the result: ccache identifies a compiler by its size and
 * modification time, Turborepo and Nx do not know which Node.js runs a task, Gradle and Go do not know the C library,
 * Maven does not know the JDK. On one machine such facts change rarely. Between machines, one machine would get the
 * result of another's compiler.
 *
 * Two kinds of keys stay as they are. Keys of REv2 are digests of actions, which clients of the farm without a granary
 * share; an action names its environment itself, as a platform property (`bazelrcText`). Keys of dune are digests of
 * all that a rule reads, including the content of its compilers.
 */
export function keyInEnvironment(environment: string, { namespace, key }: ResultKey): ResultKey {
  switch (namespace) {
    case "reapi":
    case "bazel":
    case "dune":
    case "remote-asset":
      return { namespace, key };
    case "ccache":
    case "gocache":
    case "gradle":
    case "maven":
    case "nx":
    case "results":
    case "sccache":
    case "turborepo": {
      const qualified = `${digestIn(environment)}/${key}`;
      if (qualified.length <= longestKey) return { namespace, key: qualified };
      const short = createHash("sha256").update(key).digest("hex");
      return { namespace, key: `${digestIn(environment)}/sha256:${short}` };
    }
  }
}

/** The name may be any word that a build system chose, such as `ci`: its digest has one length. */
function digestIn(environment: string): string {
  return createHash("sha256").update(environment).digest("hex").slice(0, 16);
}
