import { z } from "zod";
import {
  type AddGrant,
  CatalogSignatures,
  CreatedToken,
  type CreateToken,
  GrantRule,
  PrincipalRights,
  RemovedGrants,
  type RemoveGrants,
  type SignCatalog,
  SigningKey,
  Token,
  type TrustKey,
} from "#api/access.ts";
import { AuditPage } from "#api/audit.ts";
import { type CreateEnrolment, Quarantined } from "#api/enrolment.ts";
import { GraphPriority, type SetGraphPriority } from "#api/graph-priority.ts";
import type { ApiClient } from "./api-client.ts";

type Caller = Pick<ApiClient, "get" | "post">;

export function accessCalls({ get, post }: Caller) {
  return {
    tokens: () => get(z.array(Token), "/tokens"),
    createToken: (request: CreateToken) => post(CreatedToken, "/tokens", request),
    createEnrolment: (request: CreateEnrolment) => post(CreatedToken, "/enrolments", request),
    quarantinedWorkers: () => get(z.array(Quarantined), "/workers/quarantined"),
    releaseWorker: (name: string) =>
      post(z.object({ principal: z.string() }), `/workers/${encodeURIComponent(name)}/release`, {}),
    revokeToken: (id: string) => post(Token, `/tokens/${encodeURIComponent(id)}/revoke`, {}),
    rightsOf: (principal: string) =>
      get(PrincipalRights, `/principals/${encodeURIComponent(principal)}`),
    audit: (query: Readonly<Record<string, string>>) =>
      get(AuditPage, `/audit?${new URLSearchParams(query).toString()}`),
    grants: () => get(z.array(GrantRule), "/grants"),
    addGrant: (grant: AddGrant) => post(z.array(GrantRule), "/grants", grant),
    removeGrants: (named: RemoveGrants) => post(RemovedGrants, "/grants/remove", named),
    keys: () => get(z.array(SigningKey), "/keys"),
    trustKey: (request: TrustKey) => post(SigningKey, "/keys", request),
    revokeKey: (name: string) => post(SigningKey, `/keys/${encodeURIComponent(name)}/revoke`, {}),
    catalogSignatures: (catalog: string) =>
      get(CatalogSignatures, `/signatures?catalog=${encodeURIComponent(catalog)}`),
    signCatalog: (request: SignCatalog) => post(CatalogSignatures, "/signatures", request),
    setGraphPriority: (graph: string, request: SetGraphPriority) =>
      post(GraphPriority, `/graphs/${encodeURIComponent(graph)}/priority`, request),
  };
}
