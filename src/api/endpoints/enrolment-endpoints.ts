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
      "Makes an enrolment token, which a machine hands in once, and gives the machine its right.",
    body: CreateEnrolment,
    limit: "tokens",
    answer: created(CreatedToken),
  }),
  enrol: endpoint({
    method: "POST",
    path: "/enrol",
    right: noRight("the enrolment token is the right"),
    summary:
      "Hands an enrolment token in, with the hash of the machine's own token; the same again is answered again. 401 for one that is used, over or unknown.",
    body: Enrol,
    limit: "tokens",
    answer: json(Enrolled),
  }),
  quarantinedWorkers: endpoint({
    method: "GET",
    path: "/workers/quarantined",
    right: rightOnFarm("read"),
    summary: "Machines from which nothing is taken, and why.",
    answer: json(z.array(Quarantined)),
  }),
  releaseWorker: endpoint({
    method: "POST",
    path: "/workers/:name/release",
    right: rightOnFarm("administer"),
    summary: "Lets a machine work again, by its principal's name or a worker's.",
    answer: json(ReleasedWorker),
  }),
} as const;
