import { grantsOf } from "#access/grant.store.ts";
import { anyone, wholeFarm } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import { isLoopback } from "#core/host-guard.ts";
import type { Db } from "#db/db.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import type { ServerConfig } from "./config.ts";

type ReachConfig = Partial<Pick<ServerConfig, "host" | "privateHosts" | "publicUrl">>;

/**
 * Returns the hosts on private addresses from which repositories may be fetched.
 *
 * The configured hosts, if any. Otherwise all hosts, for a farm that only its owner uses: it listens on loopback,
 * requires no token, and has no public address. A farm behind a proxy also listens on loopback, and strangers would
 * reach its network through it.
 */
export function allowedPrivateHosts(config: ReachConfig, isOpen: boolean): PrivateHosts {
  if (config.privateHosts !== undefined) return config.privateHosts;
  const isOwnersAlone =
    isOpen && isLoopback(config.host ?? "localhost") && config.publicUrl === undefined;
  return isOwnersAlone ? ["*"] : [];
}

/** Checks again whether the farm is open, because rights may change while the server runs. */
export function privateHostsNow(db: Db, config: ReachConfig): () => Promise<PrivateHosts> {
  return async () => {
    const stranger = { name: anyone, grants: await grantsOf(db, anyone) };
    return allowedPrivateHosts(config, mayDo(stranger, "administer", wholeFarm));
  };
}
