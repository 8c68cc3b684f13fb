import { type AccessSetting, isMoreOpen } from "#core/access-setting.ts";
import { isLoopback } from "#core/host-guard.ts";
import { readingVerbs } from "#core/verb.ts";
import { anyone, type Grant, wholeFarm } from "./principal.ts";
import { mayDo } from "./require-grant.ts";

/**
 * Returns the setting of a farm, from the grants of `anyone`.
 *
 * The setting is not stored beside the grants, because then the two could contradict each other. A farm that lets
 * `anyone` read some repositories only is `private`: all others need a right.
 */
export function accessSettingOf(grantsOfAnyone: readonly Grant[]): AccessSetting {
  const stranger = { name: anyone, grants: grantsOfAnyone };
  if (mayDo(stranger, "administer", wholeFarm)) return "open";
  return mayDo(stranger, "read", wholeFarm) ? "public" : "private";
}

const everywhere = { repository: "*", branch: "*", priorityCap: null };

/** Returns the grants that `anyone` has with a setting. */
export function grantsOfAnyoneWith(setting: AccessSetting): readonly Grant[] {
  const read = readingVerbs.map((verb): Grant => ({ ...everywhere, verb, top: false }));
  switch (setting) {
    case "open":
      return [{ ...everywhere, verb: "*", top: true }, ...read];
    case "public":
      return read;
    case "private":
      return [];
  }
}

/** The parts of a server's configuration that choose the setting of a new farm. */
interface WantedAccess {
  readonly access?: AccessSetting | undefined;
  readonly host: string;
  readonly allowOpen: boolean;
  readonly close: boolean;
}

/**
 * Returns the setting that a new farm gets: the configured one; otherwise `private` on an address that others can
 * reach, and `open` on the machine's own.
 */
export function settingOfNewFarm({ access, host, allowOpen, close }: WantedAccess): AccessSetting {
  if (access !== undefined) return access;
  const isForFew = isLoopback(host) || allowOpen;
  if (!isForFew) return "private";
  return close ? "public" : "open";
}

/**
 * Returns whether a farm lets callers do more than the configuration allows. A stricter farm is accepted: an
 * administrator may have changed it since the configuration was written.
 */
export function isTooOpen(
  setting: AccessSetting,
  { access }: Pick<WantedAccess, "access">,
): boolean {
  return access !== undefined && isMoreOpen(setting, access);
}
