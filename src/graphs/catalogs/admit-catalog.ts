import { type Signer, verifySignatures } from "#access/signed-subject.ts";
import { Fault } from "#core/fault.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import type { WantedPriority } from "./admit-priority.ts";
import { branchDefinition } from "./branch-definition.store.ts";
import { admit } from "./may-run-on-branch.ts";
import { type EntryToSign, signedDigestOf } from "./signed-digest.ts";
import { entryKey, type TemplateCatalog } from "./template-catalog.ts";

/**
 * The digests to sign, by the digest of the catalog, which always names the same definitions.
 *
 * Computing it takes half a second for 40,000 definitions, and most commits change none.
 */
const signedDigests = recentlyUsed<string>(256);

/** Definitions by name, and the digest of all of them. */
interface CatalogToSign {
  readonly digest: string;
  readonly entries: readonly EntryToSign[];
}

/** Templates as they are signed. Only a protected branch needs the entries, so they are made when they are read. */
export function templatesToSign({ digest, entries }: TemplateCatalog): CatalogToSign {
  return {
    digest,
    get entries() {
      return entries.map((entry) => ({
        name: entryKey(entry),
        definition: entry.body,
        isJob: entry.kind === "job",
      }));
    },
  };
}

/** The priority with which an admitted graph may run. */
interface Admitted {
  readonly priority: number;
  /** The highest priority that a job of it may reach; null for no cap. */
  readonly cap: number | null;
  readonly notice?: string;
}

/** The templates from which a catalog was made. */
export interface MadeOf {
  readonly templates: CatalogToSign;
  /** Parameters and switches with a value other than the branch's. */
  readonly chosen: readonly string[];
}

/**
 * Admits the graph of a catalog to its branch, or throws `permission_denied` with the reason.
 *
 * The catalog itself is signed, or the templates that it was made from: a signature of templates leaves their open
 * values to the branch definition only. Rules and signatures are read in the transaction that stores the graph, so a
 * key that was revoked before does not count.
 */
export async function admitCatalog(
  tx: Tx,
  catalog: CatalogToSign,
  wanted: Omit<WantedPriority, "branch">,
  customised = false,
  made?: MadeOf,
): Promise<Admitted> {
  const { repository, branch } = wanted.where;
  const rules = await branchDefinition(tx, repository, branch);
  const of = rules.protected ? await signaturesFor(tx, catalog, made) : { signers: [] };
  const admission = admit({
    ...wanted,
    ...of,
    branch: rules,
    customised,
    catalog: (made?.templates ?? catalog).digest,
    filled: catalog.digest,
  });
  if (!admission.ok) throw new Fault("permission_denied", admission.refusal);
  return admission;
}

/** Returns who signed the templates, if these alone decide which jobs run; otherwise who signed this catalog. */
async function signaturesFor(tx: Tx, catalog: CatalogToSign, made: MadeOf | undefined) {
  const ofTemplates = made === undefined ? [] : await signersOf(tx, made.templates);
  const chosen = made?.chosen ?? [];
  if (ofTemplates.length > 0 && chosen.length === 0) return { signers: ofTemplates };
  const ofCatalog = await signersOf(tx, catalog);
  return ofCatalog.length > 0 ? { signers: ofCatalog } : { signers: ofTemplates, chosen };
}

/** The trusted keys that have signed a catalog. */
export async function signersOf(tx: Tx, catalog: CatalogToSign): Promise<Signer[]> {
  const signed = signedDigests.get(catalog.digest, () => signedDigestOf(catalog.entries));
  return verifySignatures(tx, { kind: "catalog", digest: signed });
}
