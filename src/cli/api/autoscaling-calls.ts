import { z } from "zod";
import { Autoscaling } from "#api/autoscaling.ts";
import { type DeclareClass, DeclaredClass, type UndeclareClass } from "#api/declared-class.ts";
import type { ApiClient } from "./api-client.ts";

export function autoscalingCalls({
  get,
  put,
  delete: remove,
}: Pick<ApiClient, "get" | "put" | "delete">) {
  return {
    autoscaling: () => get(Autoscaling, "/autoscaling"),
    declaredClasses: () => get(z.array(DeclaredClass), "/declared-classes"),
    declareClass: (wanted: DeclareClass) =>
      put(z.array(DeclaredClass), "/declared-classes", wanted),
    undeclareClass: (named: UndeclareClass) =>
      remove(z.array(DeclaredClass), "/declared-classes", named),
  };
}
