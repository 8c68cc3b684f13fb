import * as oidc from "openid-client";
import { Fault, messageOf } from "#core/fault.ts";
import { type ClaimedIdentity, type ClaimNames, identityOf } from "./identity-of-claims.ts";

interface ProviderSettings {
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined for a client without a secret: then only the code verifier protects the code. */
  readonly clientSecret: string | undefined;
  /** The name on the button. */
  readonly name: string;
  readonly claims: ClaimNames;
  readonly scope: string;
  /** Calls the provider. Its own answers name further addresses: private ones of other hosts are refused. */
  readonly call: typeof fetch;
}

/** The address to which the provider redirects users; it must be configured at the provider. */
export const callbackPath = "/auth/callback";

/** Values that must be equal at the start and the end of a sign-in; derived from the browser's cookie. */
export interface AttemptSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A service that authenticates users, so that the farm stores no passwords. */
export interface IdentityProvider {
  readonly name: string;
  /** Returns the issuer address as the provider's own answers contain it. */
  issuer(): Promise<string>;
  /** Returns the address to which the browser is sent. */
  addressFor(attempt: AttemptSecrets, redirectUri: string): Promise<URL>;
  /** Returns the user who was redirected back; throws `permission_denied` when the answer is not from the provider. */
  identityBehind(callback: URL, attempt: AttemptSecrets): Promise<ClaimedIdentity>;
}

/** A user waits for it in front of a blank page. */
const timeoutSeconds = 10;
/** The library renews keys; addresses rarely change. */
const callerCacheMs = 60 * 60_000;

/**
 * OpenID Connect with the code flow, PKCE and nonce; the signature of the ID token is checked although it came over
 * TLS.
 *
 * The provider's configuration is read at the first sign-in, so a farm can start while its provider is unreachable.
 */
export function identityProvider(settings: ProviderSettings): IdentityProvider {
  const { name, scope } = settings;
  let known: { readonly until: number; readonly config: Promise<oidc.Configuration> } | undefined;

  const configuration = (): Promise<oidc.Configuration> => {
    if (known !== undefined && Date.now() < known.until) return known.config;
    const config = discover(settings);
    const current = { until: Date.now() + callerCacheMs, config };
    known = current;
    config.catch(() => {
      if (known === current) known = undefined;
    });
    return config;
  };

  return {
    name,
    issuer: async () => (await configuration()).serverMetadata().issuer,
    async addressFor({ state, nonce, verifier }, redirectUri) {
      const config = await configuration();
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        response_type: "code",
        scope,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
    },
    async identityBehind(callback, { state, nonce, verifier }) {
      const config = await configuration();
      try {
        const tokens = await oidc.authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims() ?? {};
        const more = await lackingClaims(config, settings.claims, claims, tokens.access_token);
        return identityOf({ ...more, ...claims }, settings.claims);
      } catch (cause) {
        if (cause instanceof Fault) throw cause;
        throw whyNot(cause, name);
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret, name, call }: ProviderSettings) {
  try {
    const config = await oidc.discovery(
      issuer,
      clientId,
      undefined,
      clientSecret === undefined ? oidc.None() : withSecret(clientSecret),
      {
        timeout: timeoutSeconds,
        [oidc.customFetch]: (url, options) => call(url, options as RequestInit),
        // Only a provider on this machine may be without TLS: the configuration ensures this.
        execute: [
          ...(issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : []),
          oidc.enableNonRepudiationChecks,
        ],
      },
    );
    return config;
  } catch (cause) {
    throw new Fault("unavailable", `the settings of ${name} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Sends the secret in the header, which every provider must accept, unless the provider accepts only the body. */
function withSecret(secret: string): oidc.ClientAuth {
  const [inHeader, inBody] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const taken = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const way = taken.includes("client_secret_basic") ? inHeader : inBody;
    return way(server, ...rest);
  };
}

/** Some providers return an email address or groups only to a request with the access token. */
async function lackingClaims(
  config: oidc.Configuration,
  names: ClaimNames,
  claims: Readonly<Record<string, unknown>>,
  accessToken: string,
): Promise<Readonly<Record<string, unknown>>> {
  const wanted = [names.principal, names.groups, names.githubLogin].filter(
    (name) => name !== undefined,
  );
  if (wanted.every((each) => each in claims)) return {};
  if (config.serverMetadata().userinfo_endpoint === undefined) return {};
  return oidc.fetchUserInfo(config, accessToken, String(claims["sub"]));
}

/** Returns the reason without the provider's answer, which may contain codes and tokens. */
function whyNot(cause: unknown, name: string): Fault {
  if (cause instanceof oidc.AuthorizationResponseError) {
    const errorCode = /^[a-z_]{1,40}$/.test(cause.error) ? cause.error : "an error";
    return new Fault("permission_denied", `${name} refused the sign-in: ${errorCode}`, { cause });
  }
  if (cause instanceof oidc.ResponseBodyError) {
    return new Fault("permission_denied", `${name} no longer accepts this code; sign in again`, {
      cause,
    });
  }
  if (cause instanceof TypeError && cause.message === "fetch failed") {
    return new Fault("unavailable", `${name} does not answer`, { cause });
  }
  return new Fault("permission_denied", `the answer is not from ${name}; sign in again`, { cause });
}
