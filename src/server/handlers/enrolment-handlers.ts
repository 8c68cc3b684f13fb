import { recordAudit } from "#access/audit.store.ts";
import { createEnrolment, grantOfMachine, redeemEnrolment } from "#access/enrol.ts";
import { Grant, PrincipalName } from "#access/principal.ts";
import { fingerprintOfHash, isEnrolmentShaped } from "#access/secret-token.ts";
import { forgetOffences, listQuarantined } from "#access/worker-offence.store.ts";
import type { enrolmentEndpoints } from "#api/endpoints/enrolment-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { principalOfWorker } from "#execution/leasing/worker-principal.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

/** Each change leaves an entry in the audit. */
export function enrolmentHandlers({
  db,
  clock,
  callers,
}: HandlerServices): HandlersFor<typeof enrolmentEndpoints> {
  return {
    async createEnrolment({ body, caller: by }) {
      const { principal, kind, expiresInMs, tokenExpiresInMs, ...where } = body;
      const name = PrincipalName.safeParse(principal);
      if (!name.success) throw new Fault("invalid_argument", name.error.issues[0]?.message ?? "");
      if (where.pool !== undefined && kind !== "worker") {
        throw new Fault(
          "invalid_argument",
          `only workers have a pool, and this token is for a ${kind}`,
        );
      }
      if (where.repository !== undefined && kind !== "granary") {
        throw new Fault(
          "invalid_argument",
          `only granaries have projects, and this token is for a ${kind}`,
        );
      }
      const grant = Grant.parse(grantOfMachine(name.data, kind, where));
      const created = await db.transaction(async (tx) => {
        const made = await createEnrolment(
          tx,
          { principal: name.data, kind, grant, createdBy: by.name, expiresInMs, tokenExpiresInMs },
          clock.now(),
        );
        const detail = { what: "create enrolment", principal, kind, id: made.id, ...where };
        await recordAudit(tx, { actor: by.name, verb: "administer", detail });
        return made;
      });
      callers.forgetAll();
      return { ...created, expiresAt: created.expiresAt.toISOString() };
    },

    async enrol({ body: { enrolment, kind, tokenHash } }) {
      if (!isEnrolmentShaped(enrolment)) {
        throw new Fault(
          "unauthenticated",
          "this is not an enrolment token: one begins with grange_enrol_ and has 56 characters, as " +
            "`grange token create NAME --enrol worker` prints it",
        );
      }
      const enrolled = await db.transaction(async (tx) => {
        const done = await redeemEnrolment(
          tx,
          enrolment,
          fingerprintOfHash(tokenHash),
          clock.now(),
          kind,
        );
        if (done.isNew) {
          const detail = { what: "enrol", token: done.tokenId };
          await recordAudit(tx, { actor: done.principal, verb: "enrol", detail });
        }
        return done;
      });
      const { principal, tokenId, expiresAt } = enrolled;
      return { principal, tokenId, expiresAt: expiresAt?.toISOString() ?? null };
    },

    async quarantinedWorkers() {
      return (await listQuarantined(db)).map(({ at, quarantinedAt, ...each }) => ({
        ...each,
        since: (quarantinedAt ?? at).toISOString(),
      }));
    },

    async releaseWorker({ params: { name }, caller: by }) {
      const principal = await db.transaction(async (tx) => {
        const of = (await forgetOffences(tx, name)) ? name : await principalOfWorker(tx, name);
        const isReleased = of === name || (of !== undefined && (await forgetOffences(tx, of)));
        if (!isReleased || of === undefined) {
          throw new Fault(
            "not_found",
            `${JSON.stringify(name.slice(0, 128))} is not quarantined; \`grange workers\` shows who is quarantined`,
          );
        }
        await recordAudit(tx, {
          actor: by.name,
          verb: "administer",
          detail: { what: "release worker", name, principal: of },
        });
        return of;
      });
      callers.forgetAll();
      return { principal };
    },
  };
}
