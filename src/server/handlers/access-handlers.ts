import { auditLog } from "#access/audit.store.ts";
import { createToken } from "#access/create-token.ts";
import { type ListedEnrolment, listEnrolments } from "#access/enrolment.store.ts";
import { explainRight, grantsAt, grantsGiving, verbsGivenBy } from "#access/explain-right.ts";
import {
  type GrantRule,
  insertGrant,
  listGrants,
  listRightsInForce,
  lockRights,
} from "#access/grant.store.ts";
import { requireNarrowingThatCounts } from "#access/narrowing.ts";
import { kindsOfPrincipals, principalNamed } from "#access/principal.store.ts";
import { anyone, NewGrant, type Principal, PrincipalName, wholeFarm } from "#access/principal.ts";
import { grantCommand, mayDo, requireGrant } from "#access/require-grant.ts";
import { requireAnAdministrator } from "#access/rights-guard.ts";
import { listRoles, removeRole, setRole } from "#access/role.store.ts";
import { setAccess } from "#access/set-access.ts";
import { removeGrants, revokeToken } from "#access/take-rights-away.ts";
import { type ListedToken, listTokens } from "#access/token.store.ts";
import type * as api from "#api/access.ts";
import type { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { Verb } from "#core/verb.ts";
import type { Tx } from "#db/db.ts";
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
      const [known, rules, roles, tokens] = await Promise.all([
        principalNamed(db, name),
        listRightsInForce(db),
        listRoles(db),
        administers ? tokensOf(name) : null,
      ]);
      const of = (wanted: string) => rules.filter((rule) => rule.principal === wanted);
      const grants = [...of(name), ...(name === anyone ? [] : of(anyone))];
      return {
        name,
        kind: known?.kind ?? null,
        quarantine: known?.quarantine ?? null,
        tokens,
        grants: grants.map((rule) => ({ ...ruleForPage(rule), gives: verbsGivenBy(rule, roles) })),
        verbs: Verb.options.filter((verb) => grantsGiving(verb, grants, roles).length > 0),
      };
    },

    ...checkHandlers(services),
    ...roleHandlers(services),
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

/** The handlers of the endpoints that explain who has a right, and by which grants. */
function checkHandlers({
  db,
}: HandlerServices): Pick<HandlersFor<typeof accessEndpoints>, "checkRight" | "whoMay"> {
  return {
    async whoMay({ query: { repository, branch, verb }, caller: by }) {
      const all = mayDo(by, "administer", wholeFarm);
      const [rules, roles] = await Promise.all([listRightsInForce(db), listRoles(db)]);
      const shown = rules.filter(({ principal }) => all || [by.name, anyone].includes(principal));
      const here = [...grantsAt({ repository, branch }, shown, roles)]
        .map(([name, grants]) => ({
          name,
          grants: grants.filter(({ gives }) => verb === undefined || gives.includes(verb)),
        }))
        .filter(({ grants }) => grants.length > 0);
      const kinds = await kindsOfPrincipals(
        db,
        here.map(({ name }) => name),
      );
      return {
        repository,
        branch: branch ?? null,
        principals: here.map(({ name, grants }) => ({
          name,
          kind: kinds.get(name) ?? "person",
          verbs: Verb.options.filter((each) => grants.some(({ gives }) => gives.includes(each))),
          grants: grants.map(({ gives, ...rule }) => ({ ...ruleForPage(rule), gives })),
        })),
      };
    },

    async checkRight({ params, query: { verb, repository, branch }, caller: by }) {
      const name = nameFrom(params.name);
      if (name !== by.name) requireGrant(by, "administer", wholeFarm);
      const [rules, roles] = await Promise.all([listRightsInForce(db), listRoles(db)]);
      const where = { repository, branch };
      const { allowed, elsewhere } = explainRight(name, verb, where, rules, roles);
      return {
        principal: name,
        verb,
        ...where,
        allowed: allowed.length > 0,
        grants: allowed.map(ruleForPage),
        elsewhere: elsewhere.map(ruleForPage),
        missing: allowed.length > 0 ? null : grantCommand(name, verb, where),
      };
    },
  };
}

/** Handlers of the endpoints of roles. */
function roleHandlers(
  services: HandlerServices,
): Pick<HandlersFor<typeof accessEndpoints>, "roles" | "setRole" | "removeRole"> {
  const { db } = services;
  const change = (by: Principal, detail: Readonly<Record<string, unknown>>, work: RoleChange) =>
    changeRights(services, by, "administer", detail, async (tx, now) => {
      // Others must not remove the last other administrator meanwhile.
      await lockRights(tx);
      const problem = await work(tx, now);
      if (problem !== undefined) throw new Fault("failed_precondition", problem);
      await requireAnAdministrator(tx, now);
      return listRoles(tx);
    });
  return {
    roles: () => listRoles(db),
    setRole: ({ params: { name }, body: { verbs }, caller: by }) =>
      change(by, { what: "set role", name, verbs }, async (tx, now) =>
        (await setRole(tx, { name, verbs, by: by.name }, now))
          ? undefined
          : `the role ${name} is built in; choose another name`,
      ),
    removeRole: ({ params: { name }, caller: by }) =>
      change(by, { what: "remove role", name }, async (tx) =>
        (await removeRole(tx, name))
          ? undefined
          : `the role ${name} does not exist, is built in, or a principal has it: \`grange grant list\``,
      ),
  };
}

/** Changes a role; returns the problem when it could not. */
type RoleChange = (tx: Tx, now: Date) => Promise<string | undefined>;

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
      const grant = NewGrant.safeParse(wanted);
      if (!grant.success) throw new Fault("invalid_argument", grant.error.issues[0]?.message ?? "");
      requireNarrowingThatCounts(grant.data);
      await requireRoleFor(db, name, grant.data.verb);
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

/** Throws for a role that does not exist, and for `anyone`, whose rights are those of the farm's access setting. */
async function requireRoleFor(tx: Tx, principal: string, verb: string): Promise<void> {
  if (!verb.startsWith("role:")) return;
  if (principal === anyone) {
    throw new Fault(
      "invalid_argument",
      `${anyone} has no role: give it single verbs, or choose what it may do with \`grange access set\``,
    );
  }
  const names = (await listRoles(tx)).map(({ name }) => name);
  if (names.includes(verb.slice("role:".length))) return;
  throw new Fault("not_found", `there is no ${verb}; there are ${names.join(", ")}`);
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
