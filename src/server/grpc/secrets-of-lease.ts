import { fromBinary } from "@bufbuild/protobuf";
import { Fault } from "#core/fault.ts";
import { secretsProperty } from "#core/platform.ts";
import { type SecretReference, secretsIn } from "#core/secret-reference.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Opens the secrets of a run; throws `failed_precondition` for secrets that it may no longer get. */
export type OpenSecrets = (
  references: readonly SecretReference[],
  domain: TrustDomain,
) => Promise<readonly { readonly name: string; readonly value: Uint8Array }[]>;

/** Returns the secrets that an action names; throws for a text that the server never wrote. */
function secretsNamedIn(action: Uint8Array): SecretReference[] {
  const { platform } = fromBinary(ActionSchema, action);
  const said = platform?.properties.filter(({ name }) => name === secretsProperty) ?? [];
  if (said.length === 0) return [];
  const named = said.length === 1 ? secretsIn(said[0]?.value ?? "") : undefined;
  if (named !== undefined) return named;
  throw new Fault(
    "failed_precondition",
    "the platform property that names the secrets of the action cannot be read",
  );
}

/**
 * Returns the secrets that a worker gets with a lease.
 *
 * The author of the action had the right to use them: actions of build tools that name secrets are refused. The trust
 * domain is checked again, because it must be enforced even when another check fails.
 */
export async function secretsOfLease(
  action: Uint8Array,
  domain: TrustDomain,
  way: { readonly isPrivate: boolean; readonly open: OpenSecrets | undefined },
): Promise<readonly { readonly name: string; readonly value: Uint8Array }[]> {
  const named = secretsNamedIn(action);
  if (named.length === 0) return [];
  if (way.open === undefined) throw new Fault("failed_precondition", "this farm has no secrets");
  if (!way.isPrivate) {
    throw new Fault(
      "unavailable",
      "secrets are not sent over an unencrypted connection: give the farm a certificate (docs/tls.md), or set GRANGE_SECRETS_IN_CLEAR=1 if nobody else can read the network",
    );
  }
  return way.open(named, domain);
}
