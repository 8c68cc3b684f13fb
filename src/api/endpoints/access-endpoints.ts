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
    right: noRight("tells the caller who the farm takes it for"),
    summary: "Who the farm takes you for, and your grants.",
    answer: json(Caller),
  }),
  setFarmAccess: endpoint({
    method: "PUT",
    path: "/access",
    right: rightOnFarm("administer"),
    summary:
      "Sets what callers without a token may do: everything (`open`), read everything (`public`), or nothing (`private`). Replaces all grants of `anyone`. 409 when nobody could administer the farm afterwards.",
    body: SetFarmAccess,
    answer: json(FarmAccess),
  }),
  tokens: endpoint({
    method: "GET",
    path: "/tokens",
    right: rightOnFarm("administer"),
    summary: "All tokens, also those that are over; never the tokens themselves.",
    answer: json(z.array(Token)),
  }),
  createToken: endpoint({
    method: "POST",
    path: "/tokens",
    right: rightOnFarm("administer"),
    summary: "Makes a token. This is the only answer that ever holds it.",
    body: CreateToken,
    limit: "tokens",
    answer: created(CreatedToken),
  }),
  revokeToken: endpoint({
    method: "POST",
    path: "/tokens/:id/revoke",
    right: rightOnFarm("administer"),
    summary: "Ends a token: at once on the server that is asked, within 2 s on others.",
    answer: json(Token),
  }),
  rightsOf: endpoint({
    method: "GET",
    path: "/principals/:name",
    right: rightSomewhere("read"),
    summary:
      "What somebody may do in the end, and the tokens that are good now. Of others only for who administers the farm; of yourself without tokens.",
    answer: json(PrincipalRights),
  }),
  checkRight: endpoint({
    method: "GET",
    path: "/principals/:name/check",
    right: rightSomewhere("read"),
    summary:
      "Whether somebody may do something on a repository or project and a branch, by which grants, and else which grant is missing. Of others only for who administers the farm.",
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
      "Who may do what in a repository or project, and by which grants; with `branch` on that branch, else on some branch. Without `repository`, on the whole farm. With `verb`, only who may do that. Others than you and `anyone` only for who administers the farm.",
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
    summary: "Named sets of verbs: those of the farm, and those that administrators made.",
    answer: json(z.array(Role)),
  }),
  setRole: endpoint({
    method: "PUT",
    path: "/roles/:name",
    right: rightOnFarm("administer"),
    summary:
      "Sets the verbs of a role; they hold for all who have it. 409 for a role that the farm brings.",
    params: z.object({ name: RoleName }),
    body: SetRole,
    answer: json(z.array(Role)),
  }),
  removeRole: endpoint({
    method: "DELETE",
    path: "/roles/:name",
    right: rightOnFarm("administer"),
    summary: "Removes a role; 409 while somebody has it, and for a role that the farm brings.",
    params: z.object({ name: RoleName }),
    answer: json(z.array(Role)),
  }),
  grants: endpoint({
    method: "GET",
    path: "/grants",
    right: rightSomewhere("read"),
    summary: "All grants; only your own when you do not administer the farm.",
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
    summary: "Takes rights away; 409 when nobody could administer the farm afterwards.",
    body: RemoveGrants,
    answer: json(RemovedGrants),
  }),
  audit: endpoint({
    method: "GET",
    path: "/audit",
    right: rightOnFarm("read-audit", "administer"),
    summary:
      "What was done on the farm, the latest first: `before` is the `next` of the page before; `limit` is 200 unless given, at most 1,000.",
    query: AuditQuery,
    answer: json(AuditPage),
  }),
} as const;
