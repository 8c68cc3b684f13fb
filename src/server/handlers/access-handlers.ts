import { auditLog } from "#access/audit.store.ts";
import { createToken } from "#access/create-token.ts";
import { type ListedEnrolment, listEnrolments } from "#access/enrolment.store.ts";
import { type GrantRule, insertGrant, listGrants } from "#access/grant.store.ts";
import { requireNarrowingThatCounts } from "#access/narrowing.ts";
import { principalNamed } from "#access/principal.store.ts";
import { anyone, Grant, PrincipalName, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { setAccess } from "#access/set-access.ts";
import { removeGrants, revokeToken } from "#access/take-rights-away.ts";
import { type ListedToken, listTokens } from "#access/token.store.ts";
import type * as api from "#api/access.ts";
import type { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { Verb } from "#core/verb.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { changeRights } from "./change-rights.ts";
import type { HandlerServices } from "./handler-services.ts";

export function accessHandlers(services: HandlerServices): HandlersFor<typeof accessEndpoints> {
  const { db, clock } = services;

  /** Returns the tokens of a principal that are valid now. */
  const tokensOf = async (name: string) => {
    const now = clock.now();
    const [tokens, enrolments] = await Promise.all([listTokens(db), listEnrolments(db)]);
    return [...tokens, ...enrolments]
      .filter(({ principal, revokedAt }) => principal === name && revokedAt === null)
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .map(tokenForPage)
      .filter(({ usedAt }) => usedAt === null)
      .map(({ id, use, expiresAt }) => ({ id, use, expiresAt }));
  };

  return {
    caller: ({ caller: { name, kind, grants } }) => ({
      name,
      ...(kind === undefined ? {} : { kind }),
      grants,
    }),

    async setFarmAccess({ body: { access }, caller: by }) {
      const detail = { what: "set access", access };
      await changeRights(services, by, "administer", detail, (tx, now) =>
        setAccess(tx, access, by.name, now),
      );
      return { access };
    },

    async tokens() {
      const [tokens, enrolments] = await Promise.all([listTokens(db), listEnrolments(db)]);
      return [...tokens, ...enrolments].map(tokenForPage);
    },
    async createToken({ body: { principal, kind, expiresInMs }, caller: by }) {
      const wanted = {
        principal: nameFrom(principal),
        kind,
        createdBy: by.name,
        expiresInMs: expiresInMs ?? undefined,
      };
      const detail = { what: "create token", principal, kind };
      const created = await changeRights(services, by, "administer", detail, (tx, now) =>
        createToken(tx, wanted, now),
      );
      return { ...created, expiresAt: created.expiresAt?.toISOString() ?? null };
    },
    async revokeToken({ params: { id }, caller: by }) {
      const detail = { what: "revoke token", id };
      return tokenForPage(
        await changeRights(services, by, "administer", detail, (tx, now) =>
          revokeToken(tx, id, by.name, now),
        ),
      );
    },

    async rightsOf({ params, caller: by }) {
      const name = nameFrom(params.name);
      const administers = mayDo(by, "administer", wholeFarm);
      if (name !== by.name && !administers) requireGrant(by, "administer", wholeFarm);
      const [known, rules, tokens] = await Promise.all([
        principalNamed(db, name),
        listGrants(db),
        administers ? tokensOf(name) : null,
      ]);
      const of = (wanted: string) => rules.filter((rule) => rule.principal === wanted);
      const grants = [...of(name), ...(name === anyone ? [] : of(anyone))];
      return {
        name,
        kind: known?.kind ?? null,
        quarantine: known?.quarantine ?? null,
        tokens,
        grants: grants.map(ruleForPage),
        verbs: Verb.options.filter((verb) =>
          grants.some((grant) => grant.verb === "*" || grant.verb === verb),
        ),
      };
    },

    ...grantHandlers(services),
    async audit({ query: { before, actor, verb, since, limit } }) {
      const from = since === undefined ? undefined : new Date(since);
      const most = limit + 1;
      const rows = await auditLog(db, { before, actor, verb, since: from, most });
      const entries = rows.slice(0, limit);
      return { entries, next: rows.length > limit ? (entries.at(-1)?.seq ?? null) : null };
    },
  };
}

/** Handlers of the endpoints of grants. */
function grantHandlers(
  services: HandlerServices,
): Pick<HandlersFor<typeof accessEndpoints>, "grants" | "addGrant" | "removeGrants"> {
  const { db } = services;
  return {
    async grants({ caller: by }) {
      const all = mayDo(by, "administer", wholeFarm);
      const rules = await listGrants(db);
      return rules.filter(({ principal }) => all || principal === by.name).map(ruleForPage);
    },
    async addGrant({ body: { principal, ...wanted }, caller: by }) {
      const name = nameFrom(principal);
      const grant = Grant.safeParse(wanted);
      if (!grant.success) throw new Fault("invalid_argument", grant.error.issues[0]?.message ?? "");
      requireNarrowingThatCounts(grant.data);
      return changeRights(
        services,
        by,
        "administer",
        { what: "add grant", principal, ...wanted },
        async (tx) => {
          await insertGrant(tx, name, grant.data, by.name);
          return (await listGrants(tx)).filter((rule) => rule.principal === name).map(ruleForPage);
        },
      );
    },
    async removeGrants({ body: { principal, verb, repository, branch }, caller: by }) {
      const which = { principal, verb, repository, branch };
      const detail = { what: "remove grants", ...which };
      const removed = await changeRights(services, by, "administer", detail, (tx, now) =>
        removeGrants(tx, which, now),
      );
      return { removed };
    },
  };
}

function nameFrom(text: string): string {
  const name = PrincipalName.safeParse(text);
  if (name.success) return name.data;
  throw new Fault("invalid_argument", name.error.issues[0]?.message ?? `"${text}" is no name`);
}

function tokenForPage(token: ListedToken | ListedEnrolment): api.Token {
  const isEnrolment = "usedAt" in token;
  return {
    ...token,
    use: isEnrolment ? "enrolment" : "calls",
    usedAt: isEnrolment ? (token.usedAt?.toISOString() ?? null) : null,
    createdAt: token.createdAt.toISOString(),
    expiresAt: token.expiresAt?.toISOString() ?? null,
    revokedAt: token.revokedAt?.toISOString() ?? null,
  };
}

function ruleForPage(rule: GrantRule): api.GrantRule {
  return { ...rule, createdAt: rule.createdAt.toISOString() };
}
