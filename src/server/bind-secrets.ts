import type { SecretFarm } from "./http/secret-farm.ts";
import type { Services } from "./services.ts";

/** Secrets, for the HTTP API. */
export function bindSecrets({ secrets }: Pick<Services, "secrets">): SecretFarm {
  return {
    secrets: (by) => secrets.list(by),
    setSecret: (request, by) => secrets.set(request, by),
    removeSecret: (at, by) => secrets.remove(at, by),
  };
}
