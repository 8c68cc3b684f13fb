import { z } from "zod";
import { AccessSetting } from "#core/access-setting.ts";
import { PublicKeyText } from "#core/public-key-text.ts";
import { RoleVerb } from "#core/role.ts";
import { Verb } from "#core/verb.ts";

const Time = z.iso.datetime();
const aYearMs = 366 * 24 * 3_600_000;

/** The kinds of principals. */
export const PrincipalKind = z.enum(["person", "worker", "collector", "granary", "ci", "forge"]);

/** A token as administrators may see it: never the token itself. */
export const Token = z
  .object({
    id: z.string(),
    principal: z.string(),
    /** The kind of the principal. */
    kind: PrincipalKind,
    /** `enrolment`: a machine exchanges it once for its own token. */
    use: z.enum(["calls", "enrolment"]),
    createdAt: Time,
    createdBy: z.string(),
    /** Null: until it is revoked. */
    expiresAt: Time.nullable(),
    revokedAt: Time.nullable(),
    revokedBy: z.string().nullable(),
    /** When an enrolment was used. */
    usedAt: Time.nullable(),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof Token>;

export const CreateToken = z
  .strictObject({
    principal: z.string(),
    /** The kind of the principal; when absent, its present kind, or a person. */
    kind: PrincipalKind.optional(),
    /** From a second to ten years, in ms; null: until it is revoked. Default: a year. */
    expiresInMs: z
      .number()
      .int()
      .min(1_000)
      .max(10 * aYearMs)
      .nullable()
      .default(aYearMs),
  })
  .meta({ id: "CreateToken" });
export type CreateToken = z.input<typeof CreateToken>;

export const CreatedToken = z
  .object({
    id: z.string(),
    principal: z.string(),
    expiresAt: Time.nullable(),
    /** Returned only here. */
    token: z.string(),
  })
  .meta({ id: "CreatedToken" });
export type CreatedToken = z.infer<typeof CreatedToken>;

const GrantedVerb = z.union([Verb, z.literal("*"), RoleVerb], {
  error: `must be * or one of ${Verb.options.join(", ")}, or role:NAME`,
});

/** Further restrictions of a grant; absent for no restriction. */
const narrowed = {
  /** A pattern of pools: for workers, those that they may serve; for jobs, those that they may require. */
  pool: z.string().optional(),
  /** A pattern of NAME=VALUE: the labels that jobs may require of a worker. */
  label: z.string().optional(),
  /** The greatest size class that jobs may request. */
  sizeClassCap: z.number().int().optional(),
  /** The expected worker minutes that one graph may need. */
  costCap: z.number().optional(),
};

/** One right. `*` in a pattern stands for any characters. */
export const GrantRule = z
  .object({
    principal: z.string(),
    verb: GrantedVerb,
    repository: z.string(),
    branch: z.string(),
    /** Null: no cap. */
    priorityCap: z.number().int().nullable(),
    /** May use the top class, which nothing overtakes. */
    top: z.boolean(),
    ...narrowed,
    createdAt: Time,
    createdBy: z.string(),
  })
  .meta({ id: "GrantRule" });
export type GrantRule = z.infer<typeof GrantRule>;

/** A grant with the verbs that it gives: the one that it names, all, or those of its role. */
const GivingGrant = GrantRule.extend({ gives: z.array(Verb) }).meta({ id: "GivingGrant" });
export type GivingGrant = z.infer<typeof GivingGrant>;

export const AddGrant = z
  .strictObject({
    principal: z.string(),
    verb: GrantedVerb,
    repository: z.string().default("*"),
    branch: z.string().default("*"),
    priorityCap: z.number().int().nullable().default(null),
    top: z.boolean().default(false),
    ...narrowed,
  })
  .meta({ id: "AddGrant" });
export type AddGrant = z.output<typeof AddGrant>;

/** The access setting of the farm. */
export const FarmAccess = z.object({ access: AccessSetting }).meta({ id: "FarmAccess" });
export type FarmAccess = z.infer<typeof FarmAccess>;

export const SetFarmAccess = z
  .strictObject({ access: AccessSetting })
  .meta({ id: "SetFarmAccess" });

/** Without a pattern, all of the principal's rules with this verb are removed. */
export const RemoveGrants = z
  .strictObject({
    principal: z.string(),
    verb: GrantedVerb,
    repository: z.string().optional(),
    branch: z.string().optional(),
  })
  .meta({ id: "RemoveGrants" });
export type RemoveGrants = z.infer<typeof RemoveGrants>;

export const RemovedGrants = z.object({ removed: z.number().int() }).meta({ id: "RemovedGrants" });

/** A named set of verbs. */
export const Role = z
  .object({
    name: z.string(),
    verbs: z.array(z.union([Verb, z.literal("*")])),
    /** Whether the farm brings it, so that nobody can change it. */
    builtIn: z.boolean(),
    setBy: z.string(),
  })
  .meta({ id: "Role" });
export type Role = z.infer<typeof Role>;

export const SetRole = z
  .strictObject({
    verbs: z
      .array(z.union([Verb, z.literal("*")]))
      .min(1)
      .refine((verbs) => new Set(verbs).size === verbs.length, "a role has each verb once"),
  })
  .meta({ id: "SetRole" });

/** Whether a principal may do something, and by which grants. */
export const CheckedRight = z
  .object({
    principal: z.string(),
    verb: Verb,
    /** Empty: on the whole farm. */
    repository: z.string(),
    branch: z.string(),
    allowed: z.boolean(),
    /** The grants that allow it. */
    grants: z.array(GrantRule),
    /** Grants of the verb for other places. */
    elsewhere: z.array(GrantRule),
    /** The command that would grant exactly this; null when it is allowed. */
    missing: z.string().nullable(),
  })
  .meta({ id: "CheckedRight" });
export type CheckedRight = z.infer<typeof CheckedRight>;

/** The caller as the farm identifies it, with its grants. */
export const Caller = z
  .object({
    name: z.string(),
    /** Absent for a caller without a name in the database. */
    kind: PrincipalKind.optional(),
    /** With a grant for each verb of its roles. */
    grants: z.array(GrantRule.omit({ principal: true, createdAt: true, createdBy: true })),
  })
  .meta({ id: "Caller" });
export type Caller = z.infer<typeof Caller>;

/** The effective rights of a principal. */
export const PrincipalRights = z
  .object({
    name: z.string(),
    /** Null for an unknown name. */
    kind: PrincipalKind.nullable(),
    /** Why the farm accepts nothing more from it as a worker; usually null. */
    quarantine: z.string().nullable(),
    /** Valid tokens with their expiry. Null for callers that may not administer the farm. */
    tokens: z.array(Token.pick({ id: true, use: true, expiresAt: true })).nullable(),
    /** Its own grants first, then those of `anyone`, which it has without a token. */
    grants: z.array(GivingGrant),
    /** The verbs that it may use somewhere. */
    verbs: z.array(Verb),
  })
  .meta({ id: "PrincipalRights" });
export type PrincipalRights = z.infer<typeof PrincipalRights>;

/** Who may do what at a place, and by which grants. */
export const RightsAtPlace = z
  .object({
    /** Empty: the whole farm. */
    repository: z.string(),
    /** Null: some branch. */
    branch: z.string().nullable(),
    principals: z.array(
      z.object({
        name: z.string(),
        kind: PrincipalKind,
        /** What it may do there by these grants. */
        verbs: z.array(Verb),
        grants: z.array(GivingGrant),
      }),
    ),
  })
  .meta({ id: "RightsAtPlace" });
export type RightsAtPlace = z.infer<typeof RightsAtPlace>;

export const SigningKey = z
  .object({
    id: z.string(),
    name: z.string(),
    publicKey: z.string(),
    trustedAt: Time,
    trustedBy: z.string(),
    revokedAt: Time.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: "SigningKey" });
export type SigningKey = z.infer<typeof SigningKey>;

export const TrustKey = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
        "a key's name has letters, digits and . _ @ + -",
      ),
    publicKey: PublicKeyText,
  })
  .meta({ id: "TrustKey" });
export type TrustKey = z.infer<typeof TrustKey>;

export const Signer = z.object({ keyId: z.string(), name: z.string(), signedAt: Time });
export type Signer = z.infer<typeof Signer>;

export const CatalogSignatures = z
  .object({
    catalog: z.string(),
    /** The signed digest: of the catalog without priorities, deadlines and preferred workers. */
    signedDigest: z.string(),
    /** Currently trusted keys; each signature was verified for this answer. */
    signers: z.array(Signer),
  })
  .meta({ id: "CatalogSignatures" });
export type CatalogSignatures = z.infer<typeof CatalogSignatures>;

export const SignaturesQuery = z.strictObject({
  /** A digest, or a unique beginning of one. */
  catalog: z.string({ error: "name a catalog: /signatures?catalog=DIGEST" }),
});

export const SignCatalog = z
  .strictObject({
    catalog: z.string().max(256),
    publicKey: PublicKeyText,
    /** Ed25519, 64 bytes in base64. */
    signature: z.base64().length(88, "a signature is 64 bytes in base64"),
  })
  .meta({ id: "SignCatalog" });
export type SignCatalog = z.infer<typeof SignCatalog>;
