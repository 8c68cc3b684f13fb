import type { SecretFarm } from "./http/secret-farm.ts";
import type { Rooms } from "./rooms.ts";

/** Secrets, for the HTTP API. */
export function bindSecrets({ secrets }: Pick<Rooms, "secrets">): SecretFarm {
  return {
    secrets: (by) => secrets.list(by),
    setSecret: (request, by) => secrets.set(request, by),
    removeSecret: (at, by) => secrets.remove(at, by),
  };
}
