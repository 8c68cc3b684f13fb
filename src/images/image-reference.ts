import { Fault } from "#core/fault.ts";

/** The name of an image in a registry. */
export interface ImageReference {
  /** Host and port, in lower case, such as `docker.io` or `localhost:5000`. */
  readonly registry: string;
  /** Path of the repository, such as `library/debian`. */
  readonly repository: string;
  /** Absent when only a digest names the image. */
  readonly tag: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent when only a tag names the image. */
  readonly digest: string | undefined;
}

const defaultRegistry = "docker.io";
const longestReference = 1_024;
const scheme = "docker://";

const host =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?::\d{1,5})?$/;
/** One component of a repository's path, by the OCI distribution specification. */
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^sha256:[a-f0-9]{64}$/;

/**
 * Parses the name of an image as Docker and Bazel write it, with or without `docker://`.
 *
 * The first part is a registry if it has a dot or a port, or is `localhost`; otherwise the image is on docker.io, and a
 * name without `/` is in `library/`. Without tag and digest, the tag is `latest`. Throws `invalid_argument`.
 */
export function parseImageReference(text: string): ImageReference {
  const wrong = (why: string) =>
    new Fault("invalid_argument", `${quoted(text)} is not the name of an image: ${why}`);
  if (text.length > longestReference)
    throw wrong(`it has more than ${longestReference} characters`);
  const plain = text.startsWith(scheme) ? text.slice(scheme.length) : text;
  if (plain.includes("://")) throw wrong(`only ${scheme} is allowed before a name`);
  const [named = "", digest, ...more] = plain.split("@");
  if (more.length > 0) throw wrong("it has two digests");
  if (digest !== undefined && !digestPattern.test(digest))
    throw wrong("a digest is sha256: and 64 hexadecimal digits in lower case");
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/");
  const tag = hasTag ? named.slice(colon + 1) : undefined;
  const path = hasTag ? named.slice(0, colon) : named;
  if (tag !== undefined && !tagPattern.test(tag))
    throw wrong("a tag has at most 128 letters, digits and . _ -");
  const slash = path.indexOf("/");
  const first = path.slice(0, Math.max(slash, 0));
  const isRegistry = first.includes(".") || first.includes(":") || first === "localhost";
  const registry = (isRegistry ? first : defaultRegistry).toLowerCase();
  const rest = isRegistry ? path.slice(slash + 1) : path;
  const port = Number(registry.split(":")[1] ?? 1);
  // Names such as `a.2` have the form of a host, but a last part of digits belongs to an address of IPv4.
  if (!host.test(registry) || port < 1 || port > 65_535 || !URL.canParse(`https://${registry}`))
    throw wrong(`${quoted(registry)} is no host of a registry`);
  const canonical = registry === "index.docker.io" ? defaultRegistry : registry;
  const repository =
    canonical === defaultRegistry && !rest.includes("/") ? `library/${rest}` : rest;
  if (repository.length > 255 || !repository.split("/").every((part) => component.test(part)))
    throw wrong("its path has lower-case letters, digits and single . _ - between them");
  return {
    registry: canonical,
    repository,
    tag: tag ?? (digest === undefined ? "latest" : undefined),
    digest,
  };
}

/** Returns the complete name, with registry, tag and digest. */
export function imageName({ registry, repository, tag, digest }: ImageReference): string {
  const suffix = [tag === undefined ? "" : `:${tag}`, digest === undefined ? "" : `@${digest}`];
  return `${registry}/${repository}${suffix.join("")}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
