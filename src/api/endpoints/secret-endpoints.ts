import { z } from "zod";
import { rightSomewhere } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import { RemovedSecret, RemoveSecret, Secret, SetSecret } from "../secret.ts";

/** The secrets of runs. No endpoint returns a value. */
export const secretEndpoints = {
  secrets: endpoint({
    method: "GET",
    path: "/secrets",
    right: rightSomewhere("secret"),
    summary:
      "The secrets of places where you may set secrets, without their values, which no endpoint returns ([secrets.md](secrets.md)).",
    answer: json(z.array(Secret)),
  }),
  setSecret: endpoint({
    method: "POST",
    path: "/secrets",
    right: rightSomewhere("secret"),
    summary: "Sets a secret (`value` in base64); an existing one gets a new version.",
    body: SetSecret,
    largeBody: { bytes: 96 * 1024, verb: "secret" },
    answer: json(Secret),
  }),
  removeSecret: endpoint({
    method: "POST",
    path: "/secrets/remove",
    right: rightSomewhere("secret"),
    summary: "Removes the secret of exactly this name and these patterns.",
    body: RemoveSecret,
    answer: json(RemovedSecret),
  }),
} as const;
