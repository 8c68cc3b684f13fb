import { z } from "zod";
import { noRight, rightOnFarm, rightSomewhere } from "#core/right.ts";
import { RoleName } from "#core/role.ts";
import { Verb } from "#core/verb.ts";
import {
  AddGrant,
  Caller,
  CheckedRight,
  CreatedToken,
  CreateToken,
  FarmAccess,
  GrantRule,
  PrincipalRights,
  RemovedGrants,
  RemoveGrants,
  RightsAtPlace,
  Role,
  SetFarmAccess,
  SetRole,
  Token,
} from "../access.ts";
import { AuditPage, AuditQuery } from "../audit.ts";
import { created, endpoint, json } from "../endpoint.ts";

/** Tokens, grants, and their recorded changes. */
export const accessEndpoints = {
  caller: endpoint({
    method: "GET",
    path: "/caller",
    right: noRight("shows the principal of the caller"),
    summary: "Your principal, and your grants.",
    answer: json(Caller),
  }),
  setFarmAccess: endpoint({
    method: "PUT",
    path: "/access",
    right: rightOnFarm("administer"),
    summary:
      "Sets what callers without a token may do: everything (`open`), read everything (`public`), or nothing (`private`). Replaces all grants of `anyone`. 409 if nobody could administer the farm afterwards.",
    body: SetFarmAccess,
    answer: json(FarmAccess),
  }),
  tokens: endpoint({
    method: "GET",
    path: "/tokens",
    right: rightOnFarm("administer"),
    summary: "All tokens, also expired ones; never the tokens themselves.",
    answer: json(z.array(Token)),
  }),
  createToken: endpoint({
    method: "POST",
    path: "/tokens",
    right: rightOnFarm("administer"),
    summary: "Creates a token. Only this answer contains it.",
    body: CreateToken,
    limit: "tokens",
    answer: created(CreatedToken),
  }),
  revokeToken: endpoint({
    method: "POST",
    path: "/tokens/:id/revoke",
    right: rightOnFarm("administer"),
    summary:
      "Revokes a token: at once on the server that gets the request, within 2 s on other servers.",
    answer: json(Token),
  }),
  rightsOf: endpoint({
    method: "GET",
    path: "/principals/:name",
    right: rightSomewhere("read"),
    summary:
      "All rights of a principal, and its valid tokens. For other principals, only administrators of the farm get an answer; for yourself, the answer has no tokens.",
    answer: json(PrincipalRights),
  }),
  checkRight: endpoint({
    method: "GET",
    path: "/principals/:name/check",
    right: rightSomewhere("read"),
    summary:
      "Whether a principal may do something on a repository or project and a branch; the grants that allow it, or the missing grant. For other principals, only for administrators of the farm.",
    query: z.object({
      verb: Verb,
      repository: z.string().max(4_096).default(""),
      branch: z.string().max(512).default(""),
    }),
    answer: json(CheckedRight),
  }),
  whoMay: endpoint({
    method: "GET",
    path: "/rights",
    right: rightSomewhere("read"),
    summary:
      "Who may do what in a repository or project, and by which grants; with `branch` on that branch, else on any branch. Without `repository`, on the whole farm. With `verb`, only principals with that right. Principals other than you and `anyone` only for administrators of the farm.",
    query: z.object({
      repository: z.string().max(4_096).default(""),
      branch: z.string().max(512).optional(),
      verb: Verb.optional(),
    }),
    answer: json(RightsAtPlace),
  }),
  roles: endpoint({
    method: "GET",
    path: "/roles",
    right: rightSomewhere("read"),
    summary: "Named sets of verbs: built-in roles, and roles that administrators have created.",
    answer: json(z.array(Role)),
  }),
  setRole: endpoint({
    method: "PUT",
    path: "/roles/:name",
    right: rightOnFarm("administer"),
    summary: "Sets the verbs of a role, for all principals that have it. 409 for a built-in role.",
    params: z.object({ name: RoleName }),
    body: SetRole,
    answer: json(z.array(Role)),
  }),
  removeRole: endpoint({
    method: "DELETE",
    path: "/roles/:name",
    right: rightOnFarm("administer"),
    summary: "Removes a role; 409 while a principal has it, and for a built-in role.",
    params: z.object({ name: RoleName }),
    answer: json(z.array(Role)),
  }),
  grants: endpoint({
    method: "GET",
    path: "/grants",
    right: rightSomewhere("read"),
    summary: "All grants; without the right `administer`, only your own.",
    answer: json(z.array(GrantRule)),
  }),
  addGrant: endpoint({
    method: "POST",
    path: "/grants",
    right: rightOnFarm("administer"),
    summary: "Gives a right. Answers all grants of that principal.",
    body: AddGrant,
    answer: json(z.array(GrantRule)),
  }),
  removeGrants: endpoint({
    method: "POST",
    path: "/grants/remove",
    right: rightOnFarm("administer"),
    summary: "Removes rights; 409 if nobody could administer the farm afterwards.",
    body: RemoveGrants,
    answer: json(RemovedGrants),
  }),
  audit: endpoint({
    method: "GET",
    path: "/audit",
    right: rightOnFarm("read-audit", "administer"),
    summary:
      "The audit log, newest first. `before` is the `next` of the previous page; `limit` defaults to 200, at most 1,000.",
    query: AuditQuery,
    answer: json(AuditPage),
  }),
} as const;
