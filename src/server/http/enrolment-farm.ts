import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { CreatedToken } from "#api/access.ts";
import type { CreateEnrolment, Enrol, Enrolled, Quarantined } from "#api/enrolment.ts";

/** Machines: how they come to tokens of their own, and which are kept out. */
export interface EnrolmentFarm {
  createEnrolment(wanted: z.output<typeof CreateEnrolment>, by: Principal): Promise<CreatedToken>;
  /** Needs no right: who has the enrolment token may. */
  enrol(request: Enrol): Promise<Enrolled>;
  quarantinedWorkers(): Promise<Quarantined[]>;
  /** By the principal's name, or by that of one of its workers. Answers who it was. */
  releaseWorker(name: string, by: Principal): Promise<{ readonly principal: string }>;
}
