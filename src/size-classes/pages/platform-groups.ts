import { type Platform, requirementsOf, serves, spelledAlike } from "#core/platform.ts";
import { platformName } from "./platform-name.ts";

/** The platform under which size classes are shown. */
export interface PlatformGroup {
  readonly name: string;
  readonly platform: Platform;
}

/** Assigns workers and executions to platforms. */
export interface PlatformGroups {
  readonly all: readonly PlatformGroup[];
  ofWorker(platform: Platform): PlatformGroup;
  /** Returns the group of an execution whose worker is no longer known. */
  ofRequirements(requirements: Platform): PlatformGroup;
}

/**
 * Groups the platforms of a farm by name.
 *
 * Workers that match a declared platform belong to it, to the one with the most properties; so additional properties of
 * single machines do not split it. All other workers form groups by their own platforms.
 */
export function platformGroups(
  workers: readonly Platform[],
  declared: readonly Platform[],
): PlatformGroups {
  const groups = new Map<string, PlatformGroup>();
  const groupOf = (platform: Platform): PlatformGroup => {
    const spelled = spelledAlike(platform);
    const name = platformName(spelled);
    const known = groups.get(name) ?? { name, platform: spelled };
    groups.set(name, known);
    return known;
  };
  const most = declared.toSorted((a, b) => sizeOf(b) - sizeOf(a));

  const ofWorker = (platform: Platform) =>
    groupOf(most.find((each) => serves(platform, each)) ?? platform);
  for (const platform of declared) groupOf(platform);
  const homes = workers
    .map((platform) => ({ platform, group: ofWorker(platform) }))
    .toSorted((a, b) => sizeOf(a.platform) - sizeOf(b.platform));
  const all = [...groups.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));

  return {
    all,
    ofWorker,
    ofRequirements: (required) => {
      const requirements = requirementsOf(required);
      return (
        homes.find(({ platform }) => serves(platform, requirements))?.group ??
        all.find(({ platform }) => serves(platform, requirements)) ??
        groupOf(requirements)
      );
    },
  };
}

function sizeOf(platform: Platform): number {
  return Object.keys(platform).length;
}
