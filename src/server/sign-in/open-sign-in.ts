import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { type CallerRegistry, callerRegistry } from "#access/caller-registry.ts";
import type { Clock } from "#core/clock.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { isLoopback } from "#core/host-guard.ts";
import type { Db } from "#db/db.ts";
import type { ForgeReaders } from "#forge/readers/forge-readers.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import { acceptingIssuedTokens } from "#sign-in/issuers/accept-issued-tokens.ts";
import { issuedTokenService } from "#sign-in/issuers/issued-token-service.ts";
import { type IdentityProvider, identityProvider } from "#sign-in/provider/identity-provider.ts";
import { sessionTimes } from "#sign-in/sessions/judge-session.ts";
import { type SessionService, sessionService } from "#sign-in/sessions/session-service.ts";
import type { ServerConfig } from "../config.ts";

/** The sessions of browsers, and the identity provider. */
export interface SignInModule {
  readonly sessions: SessionService;
  readonly provider: IdentityProvider | undefined;
  /** The address under which people reach the farm, if it differs from the listening address. */
  readonly publicUrl: URL | undefined;
}

export type SignInConfig = Partial<
  Pick<
    ServerConfig,
    "oidc" | "publicUrl" | "privateHosts" | "sessionIdleMs" | "sessionMs" | "host" | "tlsCert"
  >
>;

/**
 * Opens sessions and the identity provider, and makes every place that accepts tokens accept those of trusted issuers.
 */
export async function openSignIn(
  {
    db,
    clock,
    logger,
    forgeReaders,
  }: {
    readonly db: Db;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly forgeReaders: Pick<ForgeReaders, "refresh">;
  },
  config: SignInConfig,
): Promise<{ readonly callers: CallerRegistry; readonly signIn: SignInModule }> {
  refuseSessionsInTheClear(config);
  // An operator or administrator named this host; the addresses in its answers are its own choice.
  const fetchFrom = (host: string) => guardedFetch(() => [host, ...(config.privateHosts ?? [])]);
  const prepare = (principal: string) => forgeReaders.refresh(principal);
  const times = {
    idleMs: config.sessionIdleMs ?? sessionTimes.idleMs,
    wholeMs: config.sessionMs ?? sessionTimes.wholeMs,
  };
  const sessions = sessionService(db, clock, times, prepare);
  const issued = issuedTokenService(db, clock, fetchFrom, (why) => logger.info({ why }, "refused"));
  const callers = acceptingIssuedTokens(callerRegistry(db, clock, prepare), issued, () =>
    sessions.forgetAll(),
  );
  const provider =
    config.oidc &&
    identityProvider({
      ...(await withSecret(config.oidc)),
      call: fetchFrom(new URL(config.oidc.issuer).hostname),
    });
  return { callers, signIn: { sessions, provider, publicUrl: config.publicUrl } };
}

/** Refuses sessions without TLS: anybody on the network could take over a session. */
function refuseSessionsInTheClear({ oidc, publicUrl, host = "127.0.0.1", tlsCert }: SignInConfig) {
  const at = publicUrl ?? new URL(`${tlsCert === undefined ? "http" : "https"}://farm.invalid`);
  const isOnThisMachine = isLoopback(publicUrl?.hostname ?? host);
  if (oidc === undefined || isOnThisMachine || at.protocol === "https:") return;
  throw new Fault(
    "failed_precondition",
    "users would sign in without TLS: give the server a certificate (--tls-cert, --tls-key), or name the https:// address at which a proxy serves it (--public-url)",
  );
}

async function withSecret(oidc: NonNullable<ServerConfig["oidc"]>) {
  const {
    issuer,
    clientId,
    clientSecretFile,
    name,
    principalClaim,
    groupsClaim,
    githubClaim,
    scope,
  } = oidc;
  return {
    issuer: new URL(issuer),
    clientId,
    clientSecret: clientSecretFile === undefined ? undefined : await secretIn(clientSecretFile),
    name: name ?? new URL(issuer).hostname,
    claims: { principal: principalClaim, groups: groupsClaim, githubLogin: githubClaim },
    scope,
  };
}

async function secretIn(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new Fault("failed_precondition", `cannot read the client's secret: ${messageOf(cause)}`, {
      cause,
    });
  }
  const secret = text.trim();
  if (secret === "") throw new Fault("failed_precondition", `${file} contains no client secret`);
  return secret;
}
