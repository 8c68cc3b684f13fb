import type { ResolveImage } from "#graphs/resolved-image.ts";
import { imageName, parseImageReference } from "#images/image-reference.ts";
import { RegistryClient } from "#images/registry-client.ts";
import { parseRegistries, readCredentials } from "#images/registry-settings.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import type { RegistryLogins } from "./registry-logins.ts";

/** Jobs that become ready together, and the actions of one build, run in the same image. */
const validMs = 60_000;
const mostKept = 10_000;

interface ResolverConfig {
  readonly registries?: string | undefined;
  readonly registryAuth?: string | undefined;
}

/**
 * Returns a function that replaces the tag of an image by the digest that it has now; undefined when the operator has
 * named no registries.
 *
 * Images of other registries are returned unchanged: a worker may know them. A project with a login of its own at the
 * registry uses that one. Throws `unavailable` when a registry is,
 * and `invalid_argument` for an image that does not exist.
 */
export function imageResolver(
  { registries: list = "", registryAuth }: ResolverConfig,
  privateHosts: () => Promise<PrivateHosts>,
  logins: Pick<RegistryLogins, "of">,
): ResolveImage | undefined {
  const registries = parseRegistries(list);
  if (registries.length === 0) return undefined;
  const client = new RegistryClient({
    registries,
    credentials: registryAuth === undefined ? new Map() : readCredentials(registryAuth),
    fetch: guardedFetch(privateHosts),
    architecture: process.arch,
  });
  const known = new Map<string, { readonly name: Promise<string>; readonly untilMs: number }>();
  return async (image, asker) => {
    const reference = parseImageReference(image);
    const isKnownRegistry = registries.some(({ host }) => host === reference.registry);
    if (reference.digest !== undefined || !isKnownRegistry) return image;
    const login = await logins.of(asker);
    const own = login?.credentials.has(reference.registry) ? login : undefined;
    const key = `${own?.scope ?? ""} ${imageName(reference)}`;
    const found = known.get(key);
    if (found !== undefined && found.untilMs > Date.now()) return found.name;
    const name = (own === undefined ? client : client.withCredentials(own.credentials))
      .resolve(reference)
      .then((digest) => imageName({ ...reference, tag: undefined, digest }));
    if (known.size >= mostKept) known.clear();
    known.set(key, { name, untilMs: Date.now() + validMs });
    // The next job asks again.
    name.catch(() => known.delete(key));
    return name;
  };
}
