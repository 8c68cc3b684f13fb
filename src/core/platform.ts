import { z } from "zod";
import { dockerNetworkProperty, foreignProperties } from "./foreign-properties.ts";
import { isolationProperty, isolationRequirement, offered as yes } from "./isolation-level.ts";

/**
 * REv2 platform properties: the requirements of an action, or the offer of a worker.
 *
 * A worker serves an action when it offers every property that the action requires, except those that instruct the farm
 * (see `instructions`).
 */
export const Platform = z.record(z.string().min(1).max(256), z.string().max(1_024));
export type Platform = z.infer<typeof Platform>;

/**
 * The property with which an action carries its rules, as canonical JSON (`outcome-rules.ts`).
 *
 * The rules are part of the action because its result depends on them: with other rules, the result in the cache would
 * differ.
 */
export const rulesProperty = "rules";

/**
 * The property in which an action lists its secrets (`secret-reference.ts`). Only the farm writes it: definitions and
 * requests that contain it are refused.
 */
export const secretsProperty = "grange-secrets";

/**
 * The property that says what the token of an action's run may do (`job-rights.ts`). Only the farm writes it, as above.
 */
export const tokenProperty = "grange-token";

/**
 * The property with which a granary states the build environment of a client: another compiler makes another action. It
 * is part of the action's digest and requires nothing of a worker.
 */
export const environmentProperty = "grange-environment";

/** The property that names the container image in which an action runs: `docker://debian:12`. */
export const imageProperty = "container-image";

/** The property in which an action lists its services, as canonical JSON (`action-services.ts`). */
export const servicesProperty = "grange-services";

/** The property with which a worker offers to run actions in container images. */
export const imagesOffer = "grange-images";

/** Returns the image that a platform names; undefined for none. Clients write `none` for no image, too. */
export function imageOf(platform: Platform): string | undefined {
  const image = platform[imageProperty];
  return image === undefined || image === "" || image === "none" ? undefined : image;
}

/**
 * Returns the first 16 hexadecimal digits of a digest, with which workers list their images; undefined for an image that
 * only a tag names.
 */
export function imageKeyOf(image: string | undefined): string | undefined {
  return /@sha256:([a-f0-9]{16})[a-f0-9]{48}$/.exec(image ?? "")?.[1];
}

/** Properties that tell the farm how to run an action; no worker needs to offer them. */
const instructions = new Set([
  imageProperty,
  isolationProperty,
  servicesProperty,
  "network",
  "cpus",
  "memory",
  "outputs",
  rulesProperty,
  secretsProperty,
  tokenProperty,
  environmentProperty,
  "size-class",
  "min-size-class",
  "max-size-class",
  ...foreignProperties.map(({ name }) => name),
]);

/**
 * Properties whose values are names of REv2's platform lexicon, which are in lower case. The documentation of many
 * clients has `Linux`, and an action with that value would wait forever.
 */
const caseless = new Set(["OSFamily", "ISA"]);

/** Returns a platform in which values with several spellings have their canonical spelling. */
export function spelledAlike(platform: Platform): Platform {
  return Object.fromEntries(
    Object.entries(platform).map(([name, value]) => [
      name,
      caseless.has(name) ? value.toLowerCase() : value,
    ]),
  );
}

/** Returns the properties that a worker must offer, in canonical spelling. */
export function requirementsOf(platform: Platform): Platform {
  const image = imageOf(platform) === undefined ? {} : { [imagesOffer]: "oci" };
  const level = platform[isolationProperty] ?? "";
  const isolation =
    level === "" ? {} : { [isolationRequirement(level, usesNetwork(platform))]: yes };
  return spelledAlike({
    ...Object.fromEntries(Object.entries(platform).filter(([name]) => !instructions.has(name))),
    ...image,
    ...isolation,
  });
}

/** Returns whether an action may use the network. */
export function usesNetwork(platform: Platform): boolean {
  const asDocker = ["standard", "bridge"].includes(platform[dockerNetworkProperty] ?? "");
  return (platform["network"] ?? (asDocker ? "on" : "off")) !== "off";
}

/** Returns the same text for equal platforms, regardless of the order of their properties. */
export function platformKey(platform: Platform): string {
  return JSON.stringify(
    Object.entries(platform).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

/**
 * The property in which a worker lists, separated by commas, those of its properties that an action must require: a
 * fence. Without it, a worker accepts every action whose requirements it satisfies.
 */
export const fenceProperty = "grange-only-for";

/** Returns whether a worker that offers `offered` may run actions that require `required`. */
export function serves(offered: Platform, required: Platform): boolean {
  return offersAll(offered, required) && fenceAround(offered, required).length === 0;
}

/** Returns the properties that an action lacks but must require before this worker accepts it. */
export function fenceAround(offered: Platform, required: Platform): string[] {
  const names = offered[fenceProperty]?.split(",") ?? [];
  return names.filter((name) => !Object.hasOwn(required, name));
}

/** Returns whether a worker has every required property; the worker's own fence is ignored. */
export function offersAll(offered: Platform, required: Platform): boolean {
  const offer = spelledAlike(offered);
  return Object.entries(requirementsOf(required)).every(([name, value]) => offer[name] === value);
}
