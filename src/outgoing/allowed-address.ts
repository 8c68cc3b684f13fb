import { fitsStars } from "#core/star-pattern.ts";
import { isMachinesOwn, isPrivateAddress } from "./special-address.ts";

/**
 * The hosts on private addresses that the farm may contact: names or addresses, with `*` for any characters.
 *
 * Other people choose addresses that the farm contacts: without this list, they could reach the farm's own network.
 * Addresses that reveal a machine's own keys match no pattern with a `*`.
 */
export type PrivateHosts = readonly string[];

/** Returns whether the farm may connect to an address of this host. Every public address is allowed. */
export function isAllowedAddress(
  host: string,
  address: string,
  privateHosts: PrivateHosts,
): boolean {
  if (!isPrivateAddress(address)) return true;
  if (privateHosts.includes(address)) return true;
  if (isMachinesOwn(address)) return false;
  return privateHosts.some((pattern) => {
    const parts = pattern.toLowerCase().split("*");
    return fitsStars(parts, host.toLowerCase()) || fitsStars(parts, address);
  });
}
