import type { Logger } from "pino";
import type { CallerRegistry } from "#access/caller-registry.ts";
import { anyone, type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import type { SessionStanding } from "#api/session.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { recordAudit } from "#graphs/audit.store.ts";
import {
  distrustIssuer,
  freeName,
  nameIdentity,
  trustIssuer,
} from "#sign-in/administer-sign-in.ts";
import { listIssuers } from "#sign-in/issuers/trusted-issuer.store.ts";
import { listIdentities } from "#sign-in/provider/identity.store.ts";
import { liveSessions, type StoredSession } from "#sign-in/sessions/session.store.ts";
import type { FoundSession } from "#sign-in/sessions/session-service.ts";
import { signInService } from "#sign-in/sign-in-service.ts";
import type { SignInFarm } from "../http/sign-in-farm.ts";
import type { SignInModule } from "./open-sign-in.ts";

export interface SignInBinding {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly callers: CallerRegistry;
  readonly signIn: SignInModule;
}

/** Sessions, identities and trusted issuers, for the HTTP API. `url` is where the server listens. */
export function bindSignIn(
  { db, clock, logger, callers, signIn }: SignInBinding,
  url: string,
): SignInFarm {
  const { sessions, provider, publicUrl } = signIn;
  const address = { url: publicUrl ?? new URL(url), isConfigured: publicUrl !== undefined };
  const service = signInService({ db, clock, sessions, provider, address });

  const change = async <T>(
    by: Principal,
    detail: Readonly<Record<string, unknown>>,
    work: (tx: Tx, now: Date) => Promise<T>,
  ): Promise<T> => {
    requireGrant(by, "administer", wholeFarm);
    const done = await db.transaction(async (tx) => {
      const answer = await work(tx, clock.now());
      await recordAudit(tx, { actor: by.name, verb: "administer", detail });
      return answer;
    });
    callers.forgetAll();
    return done;
  };

  /** Whoever reads the log learns that somebody was refused and why; never with what. */
  const noting = async <T>(what: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (reason) {
      if (reason instanceof Fault) logger.info({ why: reason.message, what }, "refused");
      throw reason;
    }
  };

  const identitiesOf = async (tx: Tx) =>
    (await listIdentities(tx)).map((each) => ({
      ...each,
      firstSeenAt: each.firstSeenAt.toISOString(),
      lastSeenAt: each.lastSeenAt.toISOString(),
    }));
  const issuersOf = async (tx: Tx) =>
    (await listIssuers(tx)).map((each) => ({ ...each, createdAt: each.createdAt.toISOString() }));

  return {
    publicHost: publicUrl?.host,
    identifySession: (cookie, request) => noting("a session", service.identify(cookie, request)),
    async session(cookie) {
      const { found, csrf, problem } = await service.standing(cookie);
      const stranger = await callers.identify(undefined);
      const standing = {
        ...standingOf(found),
        problem: problem?.message ?? null,
        csrf: csrf ?? null,
        provider: service.provider ?? null,
        isOpen: mayDo(stranger, "administer", wholeFarm),
      };
      return { standing, cookies: problem === undefined ? [] : [problem.cookie] };
    },
    noteProblem: (message) => service.noteProblem(message),
    signInWithToken: (token, cookie) => noting("a token", service.withToken(token, cookie)),
    signInWithCode: (code, cookie) => noting("a link", service.withCode(code, cookie)),
    async signInLink(authorization) {
      if (authorization === undefined) {
        throw new Fault("unauthenticated", "send the token of whom the link is to sign in");
      }
      const { code, expiresAt } = await service.codeFor(authorization);
      // A fragment is not sent to any server, and stands in no log.
      const link = new URL("/sign-in", address.url);
      link.hash = `code=${code}`;
      return { url: link.href, expiresAt: expiresAt.toISOString() };
    },
    beginSignIn: (returnTo) => service.begin(returnTo),
    finishSignIn: (query, cookie) => noting("a sign-in", service.finish(query, cookie)),
    signOut: (cookie) => service.signOut(cookie),

    async sessions(by) {
      const all = mayDo(by, "administer", wholeFarm);
      if (!all && by.name === anyone) return [];
      const found = await liveSessions(db, clock.now(), all ? undefined : by.name);
      return found.map(sessionForPage);
    },
    async endSession(id, by) {
      const own = await liveSessions(db, clock.now(), by.name);
      if (!own.some((each) => each.id === id)) requireGrant(by, "administer", wholeFarm);
      const ended = await db.transaction(async (tx) => {
        const session = await sessions.end(tx, id);
        if (session === undefined) return undefined;
        const detail = { what: "end session", id, principal: session.principal };
        await recordAudit(tx, { actor: by.name, verb: "administer", detail });
        return session;
      });
      callers.forgetAll();
      if (ended !== undefined) return sessionForPage(ended);
      throw new Fault("not_found", `there is no session "${id}"`);
    },

    async identities(by) {
      requireGrant(by, "administer", wholeFarm);
      return identitiesOf(db);
    },
    async addIdentity({ principal, subject, issuer }, by) {
      requireGrant(by, "administer", wholeFarm);
      const named = issuer ?? (await provider?.issuer());
      if (named === undefined) {
        throw new Fault(
          "invalid_argument",
          "this farm has no identity provider; name one with --issuer URL",
        );
      }
      const identity = { principal, subject, issuer: named };
      return change(by, { what: "add identity", ...identity }, async (tx, now) => {
        await nameIdentity(tx, identity, now);
        return identitiesOf(tx);
      });
    },
    removeIdentity: (principal, by) =>
      change(by, { what: "remove identity", principal }, async (tx, now) => {
        await freeName(tx, principal, now);
        return identitiesOf(tx);
      }),

    async issuers(by) {
      requireGrant(by, "administer", wholeFarm);
      return issuersOf(db);
    },
    addIssuer: (issuer, by) =>
      change(by, { what: "add issuer", ...issuer }, async (tx, now) => {
        await trustIssuer(tx, issuer, { by: by.name, now });
        return issuersOf(tx);
      }),
    removeIssuer: (name, by) =>
      change(by, { what: "remove issuer", name }, async (tx) => {
        await distrustIssuer(tx, name);
        return issuersOf(tx);
      }),
  };
}

function standingOf(found: FoundSession): Pick<SessionStanding, "session" | "over"> {
  if (found.kind === "unknown") return { session: null, over: null };
  if (found.kind === "over") {
    return { session: null, over: { principal: found.principal, why: found.why } };
  }
  const { id, principal, voucher, since, endsAt } = found;
  return {
    session: {
      id,
      principal: principal.name,
      by: voucher.kind === "token" ? { kind: "token", id: voucher.tokenId } : voucher,
      since: since.toISOString(),
      endsAt: endsAt.toISOString(),
    },
    over: null,
  };
}

function sessionForPage({ hash: _hash, endedAt: _endedAt, ...session }: StoredSession) {
  return {
    ...session,
    createdAt: session.createdAt.toISOString(),
    seenAt: session.seenAt.toISOString(),
    endsAt: session.endsAt.toISOString(),
  };
}
