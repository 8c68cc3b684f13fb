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
    summary: "Keys whose signatures count, and those that were revoked.",
    answer: json(z.array(SigningKey)),
  }),
  trustKey: endpoint({
    method: "POST",
    path: "/keys",
    right: rightOnFarm("administer"),
    summary: "Lets signatures of a key count.",
    body: TrustKey,
    answer: json(SigningKey),
  }),
  revokeKey: endpoint({
    method: "POST",
    path: "/keys/:name/revoke",
    right: rightOnFarm("administer"),
    summary: "Signatures of the key do not count any more.",
    answer: json(SigningKey),
  }),
  catalogSignatures: endpoint({
    method: "GET",
    path: "/signatures",
    right: rightOnFarm("read"),
    summary: "Who signed a catalog, each signature verified just now.",
    query: SignaturesQuery,
    answer: json(CatalogSignatures),
  }),
  signCatalog: endpoint({
    method: "POST",
    path: "/signatures",
    right: rightOnFarm("sign"),
    summary:
      "Signs a catalog. Signed is the text `grange catalog v1\\n<signed digest>\\n`, with Ed25519.",
    body: SignCatalog,
    answer: json(CatalogSignatures),
  }),
  provenance: endpoint({
    method: "GET",
    path: "/provenance",
    right: rightOnListed("read"),
    summary:
      "A signed envelope for each run that made the output, the latest first; 404 where the farm attests none ([provenance.md](provenance.md)).",
    query: ProvenanceQuery,
    answer: json(Provenance),
  }),
} as const;
