import { z } from "zod";
import { rightOnFarm } from "#core/right.ts";
import { Autoscaling } from "../autoscaling.ts";
import { DeclareClass, DeclaredClass, UndeclareClass } from "../declared-class.ts";
import { endpoint, json } from "../endpoint.ts";

/** For autoscalers, and for users who declare the workers that may be started. */
export const autoscalingEndpoints = {
  autoscaling: endpoint({
    method: "GET",
    path: "/autoscaling",
    right: rightOnFarm("read"),
    summary:
      "For each size class how many workers it should have, how many there are, why, and which may be stopped first; see [autoscaling](autoscaling.md).",
    answer: json(Autoscaling),
  }),
  declaredClasses: endpoint({
    method: "GET",
    path: "/declared-classes",
    right: rightOnFarm("read"),
    summary: "Size classes that exist because an administrator declared them.",
    answer: json(z.array(DeclaredClass)),
  }),
  declareClass: endpoint({
    method: "PUT",
    path: "/declared-classes",
    right: rightOnFarm("administer"),
    summary:
      "Declares a class of a platform; this replaces an earlier declaration. Answers all declarations.",
    body: DeclareClass,
    answer: json(z.array(DeclaredClass)),
  }),
  undeclareClass: endpoint({
    method: "DELETE",
    path: "/declared-classes",
    right: rightOnFarm("administer"),
    summary:
      "Removes a declaration. Answers the remaining ones; 404 if there is no such declaration.",
    body: UndeclareClass,
    answer: json(z.array(DeclaredClass)),
  }),
} as const;
