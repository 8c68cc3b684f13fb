import { z } from "zod";
import { rightOnFarm, rightOnListed } from "#core/right.ts";
import {
  CatalogSignatures,
  SignaturesQuery,
  SignCatalog,
  SigningKey,
  TrustKey,
} from "../access.ts";
import { endpoint, json } from "../endpoint.ts";
import { Provenance, ProvenanceQuery } from "../provenance.ts";

/** Keys that the farm trusts, their signatures, and the farm's own signatures. */
export const keyEndpoints = {
  keys: endpoint({
    method: "GET",
    path: "/keys",
    right: rightOnFarm("read"),
    summary: "Trusted and revoked keys.",
    answer: json(z.array(SigningKey)),
  }),
  trustKey: endpoint({
    method: "POST",
    path: "/keys",
    right: rightOnFarm("administer"),
    summary: "Trusts a key.",
    body: TrustKey,
    answer: json(SigningKey),
  }),
  revokeKey: endpoint({
    method: "POST",
    path: "/keys/:name/revoke",
    right: rightOnFarm("administer"),
    summary: "Revokes the trust in the key, and in all its signatures.",
    answer: json(SigningKey),
  }),
  catalogSignatures: endpoint({
    method: "GET",
    path: "/signatures",
    right: rightOnFarm("read"),
    summary: "The signatures of a catalog, each verified for this answer.",
    query: SignaturesQuery,
    answer: json(CatalogSignatures),
  }),
  signCatalog: endpoint({
    method: "POST",
    path: "/signatures",
    right: rightOnFarm("sign"),
    summary:
      "Signs a catalog. The signed text is `grange catalog v1\\n<signed digest>\\n`, with Ed25519.",
    body: SignCatalog,
    answer: json(CatalogSignatures),
  }),
  provenance: endpoint({
    method: "GET",
    path: "/provenance",
    right: rightOnListed("read"),
    summary:
      "A signed envelope for each run that made the output, newest first; 404 if the farm attests none ([provenance.md](provenance.md)).",
    query: ProvenanceQuery,
    answer: json(Provenance),
  }),
} as const;
