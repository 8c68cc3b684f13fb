import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { Autoscaling } from "#api/autoscaling.ts";
import type { DeclareClass, DeclaredClass, UndeclareClass } from "#api/declared-class.ts";

/** How many workers there should be, and which size classes people declared. */
export interface AutoscalingFarm {
  autoscaling(): Promise<Autoscaling>;
  declaredClasses(): Promise<DeclaredClass[]>;
  /** Answers all of them. */
  declareClass(wanted: z.output<typeof DeclareClass>, by: Principal): Promise<DeclaredClass[]>;
  /** False when it was not declared. */
  undeclareClass(named: UndeclareClass, by: Principal): Promise<boolean>;
}
