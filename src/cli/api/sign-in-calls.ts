import { z } from "zod";
import {
  type AddIdentity,
  type AddIssuer,
  ListedIdentity,
  ListedIssuer,
  ListedSession,
  SignInLink,
} from "#api/session.ts";
import type { ApiClient } from "./api-client.ts";

type Caller = Pick<ApiClient, "get" | "post">;

const named = (path: string, name: string, action: string) =>
  `/${path}/${encodeURIComponent(name)}/${action}`;

export function signInCalls({ get, post }: Caller) {
  return {
    link: () => post(SignInLink, "/session/links", {}),
    sessions: () => get(z.array(ListedSession), "/sessions"),
    endSession: (id: string) => post(ListedSession, named("sessions", id, "end"), {}),
    identities: () => get(z.array(ListedIdentity), "/identities"),
    addIdentity: (identity: AddIdentity) => post(z.array(ListedIdentity), "/identities", identity),
    removeIdentity: (principal: string) =>
      post(z.array(ListedIdentity), named("identities", principal, "remove"), {}),
    issuers: () => get(z.array(ListedIssuer), "/issuers"),
    addIssuer: (issuer: AddIssuer) => post(z.array(ListedIssuer), "/issuers", issuer),
    removeIssuer: (name: string) =>
      post(z.array(ListedIssuer), named("issuers", name, "remove"), {}),
  };
}
