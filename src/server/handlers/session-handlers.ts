import { recordAudit } from "#access/audit.store.ts";
import { anyone, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { endLinksOfGoneMaker } from "#access/share-links/share-links.ts";
import type { sessionEndpoints } from "#api/endpoints/session-endpoints.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import {
  distrustIssuer,
  freeName,
  nameIdentity,
  trustIssuer,
} from "#sign-in/administer-sign-in.ts";
import { listIssuers } from "#sign-in/issuers/trusted-issuer.store.ts";
import { listIdentities } from "#sign-in/provider/identity.store.ts";
import { liveSessions, type StoredSession } from "#sign-in/sessions/session.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { browserSignIn } from "../sign-in/browser-sign-in.ts";
import { changeRights } from "./change-rights.ts";
import type { HandlerServices } from "./handler-services.ts";

export function sessionHandlers(services: HandlerServices): HandlersFor<typeof sessionEndpoints> {
  const { db, clock, callers, signIn, url } = services;
  const { sessions, provider } = signIn;
  const browsers = browserSignIn(services, url);

  return {
    async signOut({ context }) {
      const cookies = await browsers.signOut(context.req.header("cookie"));
      for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
      return {};
    },

    async sessions({ caller: by }) {
      const all = mayDo(by, "administer", wholeFarm);
      if (!all && by.name === anyone) return [];
      const found = await liveSessions(db, clock.now(), all ? undefined : by.name);
      return found.map(sessionForPage);
    },
    async endSession({ params: { session: id }, caller: by }) {
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

    identities: () => identitiesOf(db),
    async addIdentity({ body: { principal, subject, issuer }, caller: by }) {
      const named = issuer ?? (await provider?.issuer());
      if (named === undefined) {
        throw new Fault(
          "invalid_argument",
          "this farm has no identity provider; name one with --issuer URL",
        );
      }
      const identity = { principal, subject, issuer: named };
      const detail = { what: "add identity", ...identity };
      return changeRights(services, by, "administer", detail, async (tx, now) => {
        await nameIdentity(tx, identity, now);
        return identitiesOf(tx);
      });
    },
    removeIdentity({ params: { principal }, caller: by }) {
      const detail = { what: "remove identity", principal };
      return changeRights(services, by, "administer", detail, async (tx, now) => {
        await freeName(tx, principal, now);
        await endLinksOfGoneMaker(tx, principal, by.name, now);
        return identitiesOf(tx);
      });
    },

    issuers: () => issuersOf(db),
    addIssuer({ body: issuer, caller: by }) {
      const detail = { what: "add issuer", ...issuer };
      return changeRights(services, by, "administer", detail, async (tx, now) => {
        await trustIssuer(tx, issuer, { by: by.name, now });
        return issuersOf(tx);
      });
    },
    removeIssuer({ params: { name }, caller: by }) {
      const detail = { what: "remove issuer", name };
      return changeRights(services, by, "administer", detail, async (tx) => {
        await distrustIssuer(tx, name);
        return issuersOf(tx);
      });
    },
  };
}

async function identitiesOf(tx: Tx) {
  return (await listIdentities(tx)).map((each) => ({
    ...each,
    firstSeenAt: each.firstSeenAt.toISOString(),
    lastSeenAt: each.lastSeenAt.toISOString(),
  }));
}

async function issuersOf(tx: Tx) {
  const issuers = await listIssuers(tx);
  return issuers.map((each) => ({ ...each, createdAt: each.createdAt.toISOString() }));
}

function sessionForPage({ hash: _hash, endedAt: _endedAt, ...session }: StoredSession) {
  return {
    ...session,
    createdAt: session.createdAt.toISOString(),
    seenAt: session.seenAt.toISOString(),
    endsAt: session.endsAt.toISOString(),
  };
}
