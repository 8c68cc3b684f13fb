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
    summary: "Ends the session of the browser that calls.",
    answer: json(SignedOut),
  }),
  sessions: endpoint({
    method: "GET",
    path: "/sessions",
    right: rightSomewhere("read"),
    summary: "Your own sessions, or all when you administer the farm.",
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
    summary: "Which subject of an identity provider has which name here.",
    answer: json(z.array(ListedIdentity)),
  }),
  addIdentity: endpoint({
    method: "POST",
    path: "/identities",
    right: rightOnFarm("administer"),
    summary: "Gives a name to a subject of a provider, before it first signs in.",
    body: AddIdentity,
    answer: json(z.array(ListedIdentity)),
  }),
  removeIdentity: endpoint({
    method: "POST",
    path: "/identities/:principal/remove",
    right: rightOnFarm("administer"),
    summary:
      "Lets another subject have the name; who is signed in under it through the provider is signed out.",
    answer: json(z.array(ListedIdentity)),
  }),
  issuers: endpoint({
    method: "GET",
    path: "/issuers",
    right: rightOnFarm("administer"),
    summary: "Whose signed tokens count.",
    answer: json(z.array(ListedIssuer)),
  }),
  addIssuer: endpoint({
    method: "POST",
    path: "/issuers",
    right: rightOnFarm("administer"),
    summary: "Lets signed tokens of an issuer count, for one principal.",
    body: AddIssuer,
    answer: json(z.array(ListedIssuer)),
  }),
  removeIssuer: endpoint({
    method: "POST",
    path: "/issuers/:name/remove",
    right: rightOnFarm("administer"),
    summary: "Signed tokens of the issuer do not count any more.",
    answer: json(z.array(ListedIssuer)),
  }),
} as const;
