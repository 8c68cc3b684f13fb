import { fromBinary } from "@bufbuild/protobuf";
import { servicesIn } from "#core/action-services.ts";
import { Fault } from "#core/fault.ts";
import { imageOf } from "#core/platform.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { parseImageReference } from "#images/image-reference.ts";
import type { ProjectLogin, RegistryLogin } from "#images/registry-login.ts";
import {
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns the logins that pulls of a project may use; throws `failed_precondition` for one that cannot be opened. */
export type LoginOfProject = (puller: {
  readonly project: string;
  readonly domain: TrustDomain;
}) => Promise<ProjectLogin | undefined>;

/** Returns the hosts of the registries from which an action needs images. */
function registriesIn(action: Uint8Array, command: Uint8Array): ReadonlySet<string> {
  // As workers read it: the action's own platform is the newer place.
  const { properties = [] } =
    fromBinary(ActionSchema, action).platform ?? fromBinary(CommandSchema, command).platform ?? {};
  const platform = Object.fromEntries(properties.map(({ name, value }) => [name, value]));
  const hosts = new Set<string>();
  try {
    const image = imageOf(platform);
    const names = [
      ...(image === undefined ? [] : [image]),
      ...servicesIn(platform).map((service) => service.image),
    ];
    for (const name of names) hosts.add(parseImageReference(name).registry);
  } catch (reason) {
    // The worker refuses the action with the reason.
    if (!(reason instanceof Fault)) throw reason;
  }
  return hosts;
}

/**
 * Returns the logins that a worker gets with a lease: those of the project at the registries from which the action needs
 * images, and no others.
 *
 * They are not a part of the action: its command does not get them, and the image has a digest.
 */
export async function loginsOfLease(
  { action, command }: { readonly action: Uint8Array; readonly command: Uint8Array },
  puller: { readonly project: string; readonly domain: TrustDomain },
  way: { readonly isPrivate: boolean; readonly loginOf: LoginOfProject | undefined },
): Promise<RegistryLogin[]> {
  const hosts = registriesIn(action, command);
  if (hosts.size === 0 || way.loginOf === undefined) return [];
  const login = await way.loginOf(puller);
  if (login === undefined) return [];
  const { scope, credentials } = login;
  const logins = [...credentials]
    .filter(([host]) => hosts.has(host))
    .map(([host, { user, password }]) => ({ scope, host, user, password }));
  if (logins.length > 0 && !way.isPrivate)
    throw new Fault(
      "unavailable",
      "the login of its registry is not sent over an unencrypted connection: give the farm a certificate (docs/tls.md), or set GRANGE_SECRETS_IN_CLEAR=1 if nobody else can read the network",
    );
  return logins;
}
