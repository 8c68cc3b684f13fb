import type { Principal } from "#access/principal.ts";
import type {
  AddGrant,
  CatalogSignatures,
  CreatedToken,
  CreateToken,
  GrantRule,
  PrincipalRights,
  RemoveGrants,
  SignCatalog,
  SigningKey,
  Token,
  TrustKey,
} from "#api/access.ts";
import type { AuditPage, AuditQuery } from "#api/audit.ts";
import type { GraphPriority, SetGraphPriority } from "#api/graph-priority.ts";

/** Who calls, who may do what, and whose signature counts. All that changes something asks the rights of `by`. */
export interface AccessFarm {
  /** The principal behind an `Authorization` header, else behind a certificate; throws `unauthenticated`. */
  identify(authorization: string | undefined, certificateOf?: string): Promise<Principal>;
  tokens(by: Principal): Promise<Token[]>;
  createToken(request: CreateToken, by: Principal): Promise<CreatedToken>;
  revokeToken(id: string, by: Principal): Promise<Token>;
  /** What somebody may do in the end. Needs `administer`, but for oneself. */
  rightsOf(principal: string, by: Principal): Promise<PrincipalRights>;
  /** What was done on the whole farm. Needs `administer`. */
  audit(query: AuditQuery, by: Principal): Promise<AuditPage>;
  /** All of them for who administers, else one's own. */
  grants(by: Principal): Promise<GrantRule[]>;
  /** Answers all rights of the principal. */
  addGrant(grant: AddGrant, by: Principal): Promise<GrantRule[]>;
  /** Answers how many rules went. */
  removeGrants(named: RemoveGrants, by: Principal): Promise<number>;
  keys(): Promise<SigningKey[]>;
  trustKey(request: TrustKey, by: Principal): Promise<SigningKey>;
  revokeKey(name: string, by: Principal): Promise<SigningKey>;
  /** Takes a digest or a unique beginning of one; undefined when there is no such catalog. */
  catalogSignatures(catalog: string): Promise<CatalogSignatures | undefined>;
  signCatalog(request: SignCatalog, by: Principal): Promise<CatalogSignatures>;
  setGraphPriority(
    graphId: string,
    request: SetGraphPriority,
    by: Principal,
  ): Promise<GraphPriority | undefined>;
}
