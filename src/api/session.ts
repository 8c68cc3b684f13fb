import { z } from "zod";
import { AccessSetting } from "#core/access-setting.ts";

const Time = z.iso.datetime();

/** The browser's signed-in user, and how to sign in. */
export const SessionStanding = z
  .object({
    /** Null: not signed in. */
    session: z
      .object({
        id: z.string(),
        principal: z.string(),
        /** The basis of the session: a token (its id) or an identity provider (its address). */
        by: z.union([
          z.object({ kind: z.literal("token"), id: z.string() }),
          z.object({ kind: z.literal("provider"), issuer: z.string() }),
        ]),
        since: Time,
        endsAt: Time,
      })
      .nullable(),
    /** Why a session ended. */
    over: z.object({ principal: z.string(), why: z.string() }).nullable(),
    /** Why the last sign-in at the provider failed; returned only once. */
    problem: z.string().nullable(),
    /** To be sent as `X-Grange-Csrf` with every request that changes something; null when not signed in. */
    csrf: z.string().nullable(),
    /** The name of the identity provider; null when there is none. */
    provider: z.string().nullable(),
    /** Whether callers without a sign-in may do everything. */
    isOpen: z.boolean(),
    /** What callers without a sign-in may do. */
    access: AccessSetting,
  })
  .meta({ id: "SessionStanding" });
export type SessionStanding = z.infer<typeof SessionStanding>;

export const SignInWithToken = z
  .strictObject({ token: z.string().max(512) })
  .meta({ id: "SignInWithToken" });
export const SignInWithCode = z
  .strictObject({ code: z.string().max(128) })
  .meta({ id: "SignInWithCode" });
export const BeginSignIn = z
  .strictObject({ returnTo: z.string().max(4_096).optional() })
  .meta({ id: "BeginSignIn" });
/** Where to send the browser. */
export const SignInAddress = z.object({ url: z.url() }).meta({ id: "SignInAddress" });
export const SignedIn = z.object({ principal: z.string() }).meta({ id: "SignedIn" });
/** The browser is signed out; this response deletes its cookies. */
export const SignedOut = z.object({}).meta({ id: "SignedOut" });
/** An address that signs its first visitor in. */
export const SignInLink = z.object({ url: z.url(), expiresAt: Time }).meta({ id: "SignInLink" });
export type SignInLink = z.infer<typeof SignInLink>;

/** A session of a browser, for administrators or for its own user. */
export const ListedSession = z
  .object({
    id: z.string(),
    principal: z.string(),
    groups: z.array(z.string()),
    tokenId: z.string().nullable(),
    issuer: z.string().nullable(),
    createdAt: Time,
    seenAt: Time,
    endsAt: Time,
  })
  .meta({ id: "ListedSession" });
export type ListedSession = z.infer<typeof ListedSession>;

/** The principals of users: a subject of an identity provider, and its principal on the farm. */
export const ListedIdentity = z
  .object({
    issuer: z.string(),
    subject: z.string(),
    principal: z.string(),
    firstSeenAt: Time,
    lastSeenAt: Time,
  })
  .meta({ id: "ListedIdentity" });
export type ListedIdentity = z.infer<typeof ListedIdentity>;

export const AddIdentity = z
  .strictObject({
    principal: z.string(),
    subject: z.string().min(1).max(255),
    /** The farm's own provider when absent. */
    issuer: z.string().max(1_000).optional(),
  })
  .meta({ id: "AddIdentity" });
export type AddIdentity = z.infer<typeof AddIdentity>;

/** An issuer whose signed tokens are accepted, with audience, subject and principal. */
export const ListedIssuer = z
  .object({
    name: z.string(),
    url: z.string(),
    audience: z.string(),
    subject: z.string(),
    principal: z.string(),
    createdAt: Time,
    createdBy: z.string(),
  })
  .meta({ id: "ListedIssuer" });
export type ListedIssuer = z.infer<typeof ListedIssuer>;

export const AddIssuer = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/,
        "the name of an issuer has letters, digits and . _ @ + -",
      ),
    url: z.string().max(1_000),
    audience: z.string().min(1).max(1_000),
    /** `*` stands for any characters. */
    subject: z.string().min(1).max(1_000),
    principal: z.string(),
  })
  .meta({ id: "AddIssuer" });
export type AddIssuer = z.infer<typeof AddIssuer>;
