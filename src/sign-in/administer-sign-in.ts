import { keepPrincipal, keepPrincipalAs } from "#access/principal.store.ts";
import { anyone, PrincipalName } from "#access/principal.ts";
import type { AddIssuer } from "#api/session.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { whyNoIssuer } from "./issuers/issuer-address.ts";
import { deleteIssuer, insertIssuer } from "./issuers/trusted-issuer.store.ts";
import { deleteIdentity, insertIdentity } from "./provider/identity.store.ts";
import { endSessionsByProvider } from "./sessions/session.store.ts";

/** Makes tokens of an issuer valid, for one principal. */
export async function trustIssuer(
  tx: Tx,
  issuer: AddIssuer,
  { by, now }: { readonly by: string; readonly now: Date },
): Promise<void> {
  const why = whyNoIssuer(issuer.url);
  if (why !== undefined) {
    throw new Fault("invalid_argument", `"${issuer.url}" cannot be an issuer: ${why}`);
  }
  const principal = nameFrom(issuer.principal);
  if (/^\**$/.test(issuer.subject)) {
    throw new Fault(
      "invalid_argument",
      "a subject of only * would accept every account of the issuer; name an organisation or a repository",
    );
  }
  await keepPrincipal(tx, principal, "ci");
  if (await insertIssuer(tx, issuer, by, now)) return;
  throw new Fault(
    "already_exists",
    `there is already an issuer "${issuer.name}"; \`grange issuer remove ${issuer.name}\` removes it`,
  );
}

export async function distrustIssuer(tx: Tx, name: string): Promise<void> {
  if (await deleteIssuer(tx, name)) return;
  throw new Fault(
    "not_found",
    `there is no issuer "${name}"; \`grange issuer list\` lists all issuers`,
  );
}

/** Assigns a name to a subject of a provider, before its first sign-in. */
export async function nameIdentity(
  tx: Tx,
  identity: { readonly principal: string; readonly subject: string; readonly issuer: string },
  now: Date,
): Promise<void> {
  const name = nameFrom(identity.principal);
  await keepPrincipalAs(tx, name, "person");
  if (await insertIdentity(tx, { ...identity, principal: name }, now)) return;
  throw new Fault(
    "already_exists",
    `${name}, or this subject, already has an identity; \`grange identity remove NAME\` removes it`,
  );
}

/** Allows another subject to take a name; existing sessions with the name end. */
export async function freeName(tx: Tx, principal: string, now: Date): Promise<void> {
  await endSessionsByProvider(tx, principal, now);
  if (await deleteIdentity(tx, principal)) return;
  throw new Fault(
    "not_found",
    `there is no identity of ${principal}; \`grange identity list\` lists all identities`,
  );
}

function nameFrom(text: string): string {
  const name = PrincipalName.safeParse(text);
  if (!name.success)
    throw new Fault("invalid_argument", name.error.issues[0]?.message ?? "no name");
  if (name.data === anyone) {
    throw new Fault(
      "invalid_argument",
      `"${anyone}" stands for callers without a token; choose another name`,
    );
  }
  return name.data;
}
