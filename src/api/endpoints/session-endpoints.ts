import { z } from "zod";
import { noRight, rightOnFarm, rightSomewhere } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import {
  AddIdentity,
  AddIssuer,
  ListedIdentity,
  ListedIssuer,
  ListedSession,
  SignedOut,
} from "../session.ts";

/** Sessions of browsers, identities at the provider, and issuers of tokens. Signing in is not part of the table. */
export const sessionEndpoints = {
  signOut: endpoint({
    method: "POST",
    path: "/session/end",
    right: noRight("signs the caller's own browser out"),
    summary: "Ends the session of the calling browser.",
    answer: json(SignedOut),
  }),
  sessions: endpoint({
    method: "GET",
    path: "/sessions",
    right: rightSomewhere("read"),
    summary: "Your own sessions; with the right to administer the farm, all.",
    answer: json(z.array(ListedSession)),
  }),
  endSession: endpoint({
    method: "POST",
    path: "/sessions/:session/end",
    right: noRight("for one's own sessions; those of others need `administer`"),
    summary: "Ends a session.",
    answer: json(ListedSession),
  }),
  identities: endpoint({
    method: "GET",
    path: "/identities",
    right: rightOnFarm("administer"),
    summary: "Subjects of identity providers and their principals.",
    answer: json(z.array(ListedIdentity)),
  }),
  addIdentity: endpoint({
    method: "POST",
    path: "/identities",
    right: rightOnFarm("administer"),
    summary: "Sets the principal of a subject of a provider, before its first sign-in.",
    body: AddIdentity,
    answer: json(z.array(ListedIdentity)),
  }),
  removeIdentity: endpoint({
    method: "POST",
    path: "/identities/:principal/remove",
    right: rightOnFarm("administer"),
    summary:
      "Frees the name for another subject; a user who has signed in with it through the provider is signed out.",
    answer: json(z.array(ListedIdentity)),
  }),
  issuers: endpoint({
    method: "GET",
    path: "/issuers",
    right: rightOnFarm("administer"),
    summary: "Trusted issuers of signed tokens.",
    answer: json(z.array(ListedIssuer)),
  }),
  addIssuer: endpoint({
    method: "POST",
    path: "/issuers",
    right: rightOnFarm("administer"),
    summary: "Accepts signed tokens of an issuer, for one principal.",
    body: AddIssuer,
    answer: json(z.array(ListedIssuer)),
  }),
  removeIssuer: endpoint({
    method: "POST",
    path: "/issuers/:name/remove",
    right: rightOnFarm("administer"),
    summary: "Stops accepting signed tokens of the issuer.",
    answer: json(z.array(ListedIssuer)),
  }),
} as const;
