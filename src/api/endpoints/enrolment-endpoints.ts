import { z } from "zod";
import { noRight, rightOnFarm } from "#core/right.ts";
import { CreatedToken } from "../access.ts";
import { created, endpoint, json } from "../endpoint.ts";
import { CreateEnrolment, Enrol, Enrolled, Quarantined, ReleasedWorker } from "../enrolment.ts";

/** How machines get tokens of their own, and which machines are excluded. */
export const enrolmentEndpoints = {
  createEnrolment: endpoint({
    method: "POST",
    path: "/enrolments",
    right: rightOnFarm("administer"),
    summary:
      "Creates an enrolment token, which a machine exchanges once for its own token, and gives the machine its right.",
    body: CreateEnrolment,
    limit: "tokens",
    answer: created(CreatedToken),
  }),
  enrol: endpoint({
    method: "POST",
    path: "/enrol",
    right: noRight("the enrolment token is the right"),
    summary:
      "Exchanges an enrolment token, with the hash of the machine's own token. A repeated call gets the same answer. 401 for a token that is used, expired or unknown.",
    body: Enrol,
    limit: "tokens",
    answer: json(Enrolled),
  }),
  quarantinedWorkers: endpoint({
    method: "GET",
    path: "/workers/quarantined",
    right: rightOnFarm("read"),
    summary: "Quarantined machines, whose results are refused, with the reasons.",
    answer: json(z.array(Quarantined)),
  }),
  releaseWorker: endpoint({
    method: "POST",
    path: "/workers/:name/release",
    right: rightOnFarm("administer"),
    summary: "Releases a machine from quarantine, by the name of its principal or of a worker.",
    answer: json(ReleasedWorker),
  }),
} as const;
